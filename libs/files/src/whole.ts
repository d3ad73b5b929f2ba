import { pipeline, type Readable, Transform } from 'node:stream';

/**
 * The bytes of an object, which must be `size` of them: the reply breaks off where it would otherwise end early or go
 * on behind its Content-Length. Destroying it destroys the source.
 * @param onFailure hears of a source that failed, but not of a reader that went away
 */
export function whole(source: Readable, size: number, onFailure: (error: Error) => void): Readable {
  let count = 0;
  const counted = new Transform({
    transform(piece: Uint8Array, _encoding, done) {
      count += piece.byteLength;
      done(count > size ? new Error('an object is longer than its file') : null, piece);
    },
    flush(done) {
      done(count < size ? new Error('an object is shorter than its file') : null);
    },
  });
  return pipeline(source, counted, (error: NodeJS.ErrnoException | null | undefined) => {
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') onFailure(error);
  });
}
