import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { seedRoom } from './seeds.mjs';
import { hasProc, memory, peakSince } from './usage.mjs';

const MIB = 1024 * 1024;
const PIECE = 64 * 1024;

export const jobs = {
  /** Sends a file in pieces and answers what the server made of it. */
  async upload({ port, room, token, bytes }) {
    const piece = randomBytes(PIECE);
    const hash = createHash('sha256');
    const request = http.request({
      ...{ port, method: 'POST', path: `/v1/files?room=${room}&name=bench.bin` },
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/octet-stream',
        'content-length': bytes,
      },
    });
    const answered = once(request, 'response');
    for (let sent = 0; sent < bytes; sent += PIECE) {
      hash.update(piece);
      if (!request.write(piece)) await once(request, 'drain');
    }
    request.end();
    const [response] = await answered;
    const body = JSON.parse(Buffer.concat(await response.toArray()).toString());
    const sha256 = hash.digest('hex');
    if (response.statusCode !== 201 || body.sha256 !== sha256)
      throw new Error(`the upload answered ${response.statusCode}: ${JSON.stringify(body)}`);
    return { id: body.id, sha256 };
  },

  /** Reads a file and keeps nothing of it. */
  async download({ port, token, id, sha256 }) {
    const request = http.request({
      ...{ port, path: `/v1/files/${id}`, headers: { authorization: `Bearer ${token}` } },
    });
    request.end();
    const [response] = await once(request, 'response');
    const hash = createHash('sha256');
    for await (const chunk of response) hash.update(chunk);
    if (response.statusCode !== 200 || hash.digest('hex') !== sha256)
      throw new Error(`the download answered ${response.statusCode}, or other bytes`);
  },
};

/** (i) By how much the server grows while a large file goes through it. */
export async function measure(stage, { bytes, times }, say) {
  if (!hasProc()) {
    say('skipped: needs /proc of Linux');
    return { rows: [], raw: null };
  }
  await stage.restartProduct();
  const { pid, port } = stage.product;
  const [{ token }] = stage.waiters;
  const room = await seedRoom(stage.database, stage.waiters.slice(0, 1));
  const upload = (size) => stage.generate('upload', { port, room, token, bytes: size });
  const download = (file) => stage.generate('download', { port, token, ...file });
  // Small ones meet the cold code. A large one would leave its buffers resident, and hide those of the next.
  for (let n = 0; n < 20; n++) await download(await upload(PIECE));

  const grown = { upload: [], download: [] };
  for (let n = 0; n < times; n++) {
    await memory(pid);
    let file;
    grown.upload.push(await peakSince(pid, async () => (file = await upload(bytes))));
    await memory(pid);
    grown.download.push(await peakSince(pid, () => download(file)));
  }
  const row = (what) => {
    const value = Math.max(...grown[what]) / 1024;
    say(
      `${what} of ${bytes / MIB} MiB, RSS grew by ${grown[what].map((kib) => (kib / 1024).toFixed(1)).join(', ')} MiB`,
    );
    return {
      what: `(i) growth of RSS during an ${what} of ${bytes / MIB} MiB`.replace(
        'an download',
        'a download',
      ),
      value: `${value.toFixed(1)} MiB`,
      target: '< 8 MiB',
      ok: value < 8,
    };
  };
  return { rows: [row('upload'), row('download')], raw: { bytes, grown } };
}
