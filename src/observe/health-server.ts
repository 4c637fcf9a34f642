import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseLoopback } from '../base/loopback.js';
import { noTrace, type Trace } from '../base/trace.js';
import { BusError } from '../errors/bus-error.js';
import type { StatusAnswer } from '../wire/messages.js';

/** One more connection is closed at once. A monitor needs one or two. */
const connectionsMax = 32;
/** Milliseconds for a whole request, and for a silent connection. */
const requestMsMax = 5_000;

/** The text at `/metrics`. */
export interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

export interface Verdict {
  /** Works, or will soon: no reason to restart it. */
  isHealthy: boolean;
  /** Takes new work now. */
  isReady: boolean;
  state: string;
  store: string;
  why?: string;
}

export function verdictOn(status: Pick<StatusAnswer, 'state' | 'store_state'>): Verdict {
  const { state, store_state: store } = status;
  if (store !== 'serving')
    return { isHealthy: false, isReady: false, state, store, why: 'the store cannot be written' };
  if (state === 'serving') return { isHealthy: true, isReady: true, state, store };
  return {
    isHealthy: state === 'opening',
    isReady: false,
    state,
    store,
    why: `the broker is ${state}`,
  };
}

/**
 * `/metrics`, `/healthz` and `/readyz` for monitors on this machine. It listens on loopback only, and takes
 * only requests that name loopback as their host: a web page whose name was made to resolve to 127.0.0.1
 * (DNS rebinding) reads nothing.
 */
export class HealthServer implements AsyncDisposable {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** `address`: loopback host and port, port 0 for any. Throws CONFIG_INVALID, HTTP_ADDRESS. */
  static async open(parts: {
    address: string;
    verdict: () => Verdict;
    metrics: MetricsText;
    trace?: Trace;
  }): Promise<HealthServer> {
    const address = parseLoopback(parts.address);
    if (address === undefined)
      throw new BusError('CONFIG_INVALID', { detail: `http: ${parts.address} is not loopback` });
    const trace = parts.trace ?? noTrace;
    const server = createServer(
      {
        requestTimeout: requestMsMax,
        headersTimeout: requestMsMax,
        keepAliveTimeout: requestMsMax,
      },
      (request, response) => {
        answer(request, response, parts).catch((error: unknown) => {
          trace('error', 'a request for metrics failed', { error });
          response.destroy();
        });
      },
    );
    server.maxConnections = connectionsMax;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        reject(
          new BusError(
            'HTTP_ADDRESS',
            { address: parts.address, detail: error.message },
            { cause: error },
          ),
        );
      });
      server.listen(address.port, address.host, resolve);
    });
    server.removeAllListeners('error');
    server.on('error', (error) => trace('error', 'the metrics server failed', { error }));
    // What it serves is never a reason to stay alive.
    server.unref();
    return new HealthServer(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { verdict, metrics }: { verdict: () => Verdict; metrics: MetricsText },
): Promise<void> {
  const reply = (code: number, type: string, text: string): void => {
    response.writeHead(code, {
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // Requests are rare: close the connection after a refusal.
      ...(code >= 400 && code !== 503 && { connection: 'close' }),
    });
    response.end(text);
  };
  const refuse = (code: number, why: string): void => reply(code, 'text/plain', `${why}\n`);
  const { headers, method, url = '' } = request;
  if (parseLoopback(headers.host ?? '') === undefined)
    return refuse(403, 'ask for 127.0.0.1 or localhost');
  if (method !== 'GET') return refuse(405, 'only GET is answered');
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0)
    return refuse(413, 'a request has no body here');
  const path = url.replace(/\?.*$/s, '');
  switch (path) {
    case '/metrics':
      return reply(200, metrics.contentType, await metrics.text());
    case '/healthz':
    case '/readyz': {
      const { isHealthy, isReady, ...rest } = verdict();
      const ok = path === '/healthz' ? isHealthy : isReady;
      return reply(ok ? 200 : 503, 'application/json', `${JSON.stringify({ ok, ...rest })}\n`);
    }
    default:
      return refuse(404, 'there are /metrics, /healthz and /readyz');
  }
}
