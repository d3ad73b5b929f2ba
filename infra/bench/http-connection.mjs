import net from 'node:net';

const HEAD_END = '\r\n\r\n';

/**
 * One HTTP/1.1 keep-alive connection with one request at a time. By hand over a socket: `node:http` costs the client as
 * much as the bare server pays, and on few cores the client's share is taken from the server that is measured.
 */
export class HttpConnection {
  #socket;
  #waiting = null;
  #received = null;
  #failure = null;

  /** Resolves when the connection stands. */
  static async open(port) {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve).once('error', reject);
    });
    return new HttpConnection(socket);
  }

  constructor(socket) {
    this.#socket = socket;
    socket.removeAllListeners('error');
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  /** Sends the text of a whole request, all of it ASCII, and resolves with `{status, head, body}`. */
  send(request) {
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#waiting) return Promise.reject(new Error('this connection waits for a reply'));
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request, 'latin1');
    });
  }

  close() {
    this.#failure ??= new Error('the connection was closed');
    this.#socket.destroy();
  }

  #read(chunk) {
    const received = this.#received ? Buffer.concat([this.#received, chunk]) : chunk;
    const headEnd = received.indexOf(HEAD_END);
    if (headEnd === -1) {
      this.#received = received;
      return;
    }
    const head = received.latin1Slice(0, headEnd);
    const bodyStart = headEnd + HEAD_END.length;
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      this.#fail(new Error(`a reply without Content-Length: ${head}`));
      return;
    }
    const end = bodyStart + Number(length);
    if (received.length < end) {
      this.#received = received;
      return;
    }
    this.#received = null;
    const { resolve } = this.#waiting;
    this.#waiting = null;
    resolve({
      status: Number(head.slice(9, 12)),
      head,
      body: received.utf8Slice(bodyStart, end),
    });
  }

  #fail(error) {
    this.#failure ??= error;
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}

/** The text of a request. */
export function requestText(method, path, { token, body } = {}) {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Accept: application/json'];
  if (token) lines.push(`Authorization: Bearer ${token}`);
  if (body === undefined) return `${lines.join('\r\n')}${HEAD_END}`;
  lines.push('Content-Type: application/json', `Content-Length: ${body.length}`);
  return `${lines.join('\r\n')}${HEAD_END}${body}`;
}

/** One call of the API during set-up; throws on everything but success. */
export async function call(connection, method, path, { token, json } = {}) {
  const body = json === undefined ? undefined : JSON.stringify(json);
  const reply = await connection.send(requestText(method, path, { token, body }));
  if (reply.status >= 300)
    throw new Error(`${method} ${path} answered ${reply.status}: ${reply.body}`);
  return JSON.parse(reply.body);
}
