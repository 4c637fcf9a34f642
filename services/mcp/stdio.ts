import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { PassThrough } from 'node:stream';
import { BusError } from '../../src/errors/bus-error.js';
import type { Bus } from '../bus.js';
import { LineLimit } from './line-limit.js';
import { newServer } from './server.js';
import type { Offer } from './tool.js';

/** One message. The messages of a client are small; the largest hold a log or a hundred citations. */
const lineBytesMax = 4 * 1024 * 1024;
/** A client that closes our input at once, as a shell pipe does, still gets its answers. */
const lastAnswersMs = 5_000;
const pollMs = 20;
/** A schema that was not met explains itself at length. */
const detailChars = 200;

/** Serves the client at the other end of standard input and output, until it goes or `stopped` resolves. */
export async function serveStdioUntil(stopped: Promise<unknown>, offer: Offer): Promise<void> {
  const { bus, log } = offer;
  const lines = new LineLimit(lineBytesMax, () => {
    log.warn({ limit: lineBytesMax }, 'a line was too long and is dropped');
    refuseLine();
  });
  // The transport ends with its input, and what is under way with the transport.
  const input = new PassThrough();
  const gone = new Promise<void>((resolve) => {
    lines.on('end', () => resolve());
    process.stdin.on('error', () => resolve());
    process.stdin.on('close', () => resolve());
  });
  process.stdin.pipe(lines).pipe(input, { end: false });
  const handle = serveStdio(({ era }) => newServer(offer, era), {
    transport: new StdioServerTransport(input, process.stdout, {
      // Twice a line: what is read in one piece may hold the end of one and all of the next.
      maxBufferSize: 2 * lineBytesMax,
    }),
    onerror: (error) => log.warn({ detail: error.message.slice(0, detailChars) }, 'not understood'),
  });
  await Promise.race([stopped, gone.then(() => untilAnswered(bus, stopped))]);
  process.stdin.destroy();
  await handle.close();
}

/** JSON-RPC wants the id of what is refused, which stands somewhere in what was not kept: hence null. */
function refuseLine(): void {
  const { code, message, retryable, next } = new BusError('TOO_LARGE', {
    what: 'a message',
    bytes: `more than ${lineBytesMax}`,
    limit: lineBytesMax,
  });
  const error = { code: -32600, message: `${code}: ${message}`, data: { code, retryable, next } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error })}\n`);
}

async function untilAnswered(bus: Bus, stopped: Promise<unknown>): Promise<void> {
  const late = new AbortController();
  void stopped.then(() => late.abort());
  const untilMs = performance.now() + lastAnswersMs;
  // Twice idle: a call begins a moment after its line was read.
  for (let idle = 0; idle < 2 && !late.signal.aborted && performance.now() < untilMs;) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    idle = bus.calls === 0 ? idle + 1 : 0;
  }
}
