import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
/** 96 random bits: safe for 2^32 texts under one key (NIST SP 800-38D section 8.3). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Text that does not open; `code` is for the log. */
export class SealError extends Error {
  override readonly name = 'SealError';
  readonly code = 'ESEAL';
}

/** Keys for what the server must be able to read again, all derived from SECRET_KEY. */
export class Secrets {
  /** @param masterKey null where nothing that is switched on needs one */
  constructor(private readonly masterKey: Buffer | null) {}

  /** A box for texts of one purpose. */
  box(purpose: string): SecretBox {
    return new SecretBox(this.deriveKey(purpose));
  }

  /** A digest by which equal texts can be told without their being readable: nobody without the key can guess one. */
  digest(purpose: string, text: string): Buffer {
    return createHmac('sha256', this.deriveKey(purpose)).update(text).digest();
  }

  /** Keys of two purposes say nothing about each other (HKDF, RFC 5869): what is sealed for one opens for no other. */
  private deriveKey(purpose: string): Buffer {
    if (!this.masterKey) throw new Error(`${purpose} needs SECRET_KEY, which is not set`);
    return Buffer.from(hkdfSync('sha256', this.masterKey, '', `relayger ${purpose}`, 32));
  }
}

/** Seals texts for rows of the database. */
export class SecretBox {
  constructor(private readonly key: Buffer) {}

  /** @param rowId authenticated with the text: a copy in another row does not open */
  seal(rowId: string, text: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, nonce).setAAD(Buffer.from(rowId));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** @throws SealError when the text was sealed with another key or for another row, or has been changed */
  open(rowId: string, sealed: Buffer): string {
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    try {
      // Without authTagLength Node takes shorter tags too, which are easier to forge.
      const decipher = createDecipheriv(CIPHER, this.key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(rowId)).setAuthTag(tag);
      const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new SealError('sealed with another key or for another row', { cause });
    }
  }
}
