/**
 * What must not be in a name that a browser or a shell script may store under: what some system takes for a path, a
 * device or a pattern, and characters that show a name other than it is (a right-to-left override turns "exe.pdf" around).
 */
const HARMFUL = /[<>:"/\\|?*\p{C}\u2028\u2029]/gu;

/** Names that Windows takes for devices, whatever follows the first dot. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/**
 * Makes a browser save a file, never show it. The name is harmless in both forms: for old clients in ASCII, and for
 * others in UTF-8 (RFC 6266, RFC 8187).
 */
export function contentDisposition(name: string): string {
  const harmless = name.replace(HARMFUL, '_').replace(DEVICE, '_$&');
  const ascii = harmless.replace(/[^\u0020-\u007e]/g, '_').replace(/%/g, '_');
  // encodeURIComponent leaves five characters that RFC 8187 wants encoded; the rest of attr-char it encodes as well.
  const encoded = encodeURIComponent(harmless).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
