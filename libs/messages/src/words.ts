/** Letters, digits and the marks that belong to them; everything else separates words. */
const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/**
 * The words of a text in lower case, one space between them. Done here and not by PostgreSQL, whose idea of letters
 * and capitals depends on the locale of the database: under C a dash or a curly quote is part of the word beside it.
 */
export function wordsIn(text: string): string {
  return (text.normalize('NFKC').toLowerCase().match(WORD) ?? []).join(' ');
}

/** What search finds a message by: the words of a text or of the summary of data. Null for every other message. */
export function searchWords(type: string, payload: object): string | null {
  if (type !== 'text' && type !== 'data') return null;
  const { text } = payload as { text?: string };
  return text === undefined ? null : wordsIn(text);
}
