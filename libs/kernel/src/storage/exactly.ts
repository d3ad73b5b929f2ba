/** The bytes as they come, which must be `size` of them. */
export async function* exactly(
  bytes: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let count = 0;
  for await (const piece of bytes) {
    count += piece.byteLength;
    if (count > size) break;
    yield piece;
  }
  if (count !== size) throw new Error(`an object of ${size} bytes came with ${count}`);
}
