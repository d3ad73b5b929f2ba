import { randomBytes } from 'node:crypto';
import net from 'node:net';

const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/** One WebSocket (RFC 6455) over a bare socket, as thin as a client can be: thousands of them fit one process. */
export class SocketConnection {
  #socket;
  #buffer = Buffer.alloc(0);
  #onText;
  /** Why it ended, or null. */
  ended = null;

  /** Resolves when the server has agreed. `onText` gets the text of every frame. */
  static open(port, path, token, onText = () => {}) {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
      let head = '';
      const onHead = (chunk) => {
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        socket.off('data', onHead);
        if (!head.startsWith('HTTP/1.1 101')) {
          reject(new Error(`no WebSocket: ${head.slice(0, 300)}`));
          socket.destroy();
        } else
          resolve(new SocketConnection(socket, onText, Buffer.from(head.slice(end + 4), 'latin1')));
      };
      socket.on('data', onHead).once('error', reject);
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n` +
          `Authorization: Bearer ${token}\r\n\r\n`,
      );
    });
  }

  constructor(socket, onText, rest) {
    this.#socket = socket;
    this.#onText = onText;
    socket.removeAllListeners('error');
    socket.on('error', (error) => this.#end(String(error)));
    socket.on('close', () => this.#end('closed by the server'));
    socket.on('data', (chunk) => this.#read(chunk));
    if (rest.length > 0) this.#read(rest);
  }

  close() {
    this.#end('closed here');
    this.#socket.destroy();
  }

  #read(chunk) {
    let rest = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    for (;;) {
      const frame = readFrame(rest);
      if (!frame) break;
      rest = rest.subarray(frame.size);
      if (frame.opcode === TEXT) this.#onText(frame.payload.toString());
      else if (frame.opcode === PING) this.#socket.write(maskedFrame(PONG, frame.payload));
      else if (frame.opcode === CLOSE) this.#end(`closed with ${frame.payload.readUInt16BE(0)}`);
    }
    // Not a view of the chunk, which would hold all of it.
    this.#buffer = rest.length === 0 ? EMPTY : Buffer.from(rest);
  }

  #end(why) {
    this.ended ??= why;
  }
}

const EMPTY = Buffer.alloc(0);

/** The first frame of these bytes, or null when it is not complete. Frames of servers are not masked. */
function readFrame(bytes) {
  if (bytes.length < 2) return null;
  const short = bytes[1] & 0x7f;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start) return null;
  const length =
    short === 126
      ? bytes.readUInt16BE(2)
      : short === 127
        ? Number(bytes.readBigUInt64BE(2))
        : short;
  const size = start + length;
  if (bytes.length < size) return null;
  return { opcode: bytes[0] & 0x0f, payload: bytes.subarray(start, size), size };
}

/** A frame of at most 125 bytes, masked as clients must. */
function maskedFrame(opcode, payload) {
  const mask = randomBytes(4);
  const masked = payload.map((byte, i) => byte ^ mask[i % 4]);
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length]), mask, masked]);
}
