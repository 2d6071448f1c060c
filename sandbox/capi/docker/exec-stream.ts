import type { Duplex } from "node:stream";

const STREAMS = { stdout: 1, stderr: 2 } as const;

/** Returns what a command wrote, as Docker sends it: each piece has a header with its stream and its length. */
export function execFrames(output: Readonly<Record<keyof typeof STREAMS, string>>): Buffer {
  const frames = Object.entries(STREAMS).flatMap(([name, stream]) => {
    const text = Buffer.from(output[name as keyof typeof STREAMS]);
    if (text.length === 0) return [];
    const header = Buffer.alloc(8);
    header.writeUInt8(stream, 0);
    header.writeUInt32BE(text.length, 4);
    return [header, text];
  });
  return Buffer.concat(frames);
}

/**
 * Returns what a client sends to a command until it closes its side.
 *
 * @param head what has arrived with the request
 * @param skipped how many bytes of it are the request's own body
 */
export async function inputOf(socket: Duplex, head: Buffer, skipped: number): Promise<string> {
  const chunks = [head];
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).subarray(skipped).toString();
}
