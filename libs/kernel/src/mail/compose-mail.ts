import type { MailText } from './mail.js';

/** A part of a mail: a paragraph, or a code to copy. */
type Block = string | { code: string };

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] as string);
}

function htmlOf(block: Block): string {
  return typeof block === 'string'
    ? `<p>${escapeHtml(block)}</p>`
    : `<p style="font:bold 1.6em monospace">${escapeHtml(block.code)}</p>`;
}

/**
 * Writes the plain and the HTML part of a mail from the same blocks. No links and no pictures: people should not
 * learn to click on what mails tell them, and nothing tells the sender that the mail was opened.
 */
export function composeMail(subject: string, blocks: readonly Block[]): MailText {
  const texts = blocks.map((block) => (typeof block === 'string' ? block : `    ${block.code}`));
  return {
    subject,
    text: `${texts.join('\n\n')}\n`,
    html: [
      '<!doctype html>',
      `<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>`,
      '<body style="font-family:sans-serif;line-height:1.5;max-width:36em">',
      ...blocks.map(htmlOf),
      '</body></html>',
      '',
    ].join('\n'),
  };
}
