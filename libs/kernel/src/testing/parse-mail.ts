export interface ParsedMail {
  /** By lower-case name; of several only the last. */
  headers: Record<string, string>;
  text: string;
  html: string;
  /** The mail as it came. */
  source: string;
}

interface Part {
  headers: Record<string, string>;
  body: string;
}

/** Reads as much of MIME (RFC 2045) as our own mails use. */
export function parseMail(source: string): ParsedMail {
  const { headers, body } = readPart(source);
  const boundary = /boundary="?([^";]+)"?/.exec(headers['content-type'] ?? '')?.[1];
  const parts = boundary
    ? body
        .split(`--${boundary}`)
        .slice(1, -1)
        .map((part) => readPart(part.replace(/^\r?\n/, '')))
    : [{ headers, body }];
  const ofType = (type: string) => {
    const part = parts.find(({ headers: own }) => own['content-type']?.startsWith(type));
    return part ? decode(part) : '';
  };
  return { headers, text: ofType('text/plain'), html: ofType('text/html'), source };
}

function readPart(source: string): Part {
  const end = /\r?\n\r?\n/.exec(source);
  const head = end ? source.slice(0, end.index) : source;
  const body = end ? source.slice(end.index + end[0].length) : '';
  const lines = head.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { headers, body };
}

function decode({ headers, body }: Part): string {
  switch (headers['content-transfer-encoding']) {
    case 'base64':
      return Buffer.from(body, 'base64').toString('utf8');
    case 'quoted-printable': {
      const bytes = body
        .replace(/=\r?\n/g, '')
        .replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
          String.fromCharCode(Number.parseInt(hex, 16)),
        );
      return Buffer.from(bytes, 'latin1').toString('utf8');
    }
    default:
      return body;
  }
}
