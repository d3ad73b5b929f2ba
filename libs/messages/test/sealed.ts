import { randomUUID } from 'node:crypto';

interface Sealed {
  recipients: readonly string[];
  /** Decoded length of the ciphertext. */
  bytes?: number;
}

/** A payload of the right shape; nobody could decrypt it, and the server does not try. */
export function sealedPayload({ recipients, bytes = 64 }: Sealed) {
  return {
    alg: 'relayger-e2ee-v1' as const,
    ephemeralKey: 'k'.repeat(43),
    nonce: 'n'.repeat(16),
    ciphertext: Buffer.alloc(bytes, 7).toString('base64url'),
    recipients: recipients.map((id) => ({
      id,
      keyId: randomUUID(),
      nonce: 'n'.repeat(16),
      wrappedKey: 'w'.repeat(64),
    })),
  };
}
