import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BusError } from '../src/errors/bus-error.js';
import { carries } from './token.js';

const host = '127.0.0.1';
/** One more is closed at once. */
const connectionsMax = 256;
/** From the first byte of a request to its last. */
const requestMsMax = 30_000;
/** As browsers and programs write this machine. */
const localNames: ReadonlySet<string> = new Set(['localhost', host, '[::1]']);

export interface LocalHttpParts {
  /** 0: any. */
  port: number;
  token: string;
  /** The command that prints the file of the token. */
  command: string;
  /** What may be read without the token; absent: nothing. */
  isOpen?: (request: IncomingMessage, path: string) => boolean;
  /** `path`: without what stands behind `?`. */
  handle: (request: IncomingMessage, response: ServerResponse, path: string) => void;
  /** Before connections are cut, when no new one is taken any more. */
  ending?: () => Promise<void>;
}

/**
 * A server for this machine alone. Nothing of a request is read before it has named loopback as its host and origin (a web
 * page whose name was made to resolve to 127.0.0.1 names another), and has shown the token.
 */
export class LocalHttp implements AsyncDisposable {
  readonly #server: Server;
  readonly #ending: LocalHttpParts['ending'];

  private constructor(server: Server, ending: LocalHttpParts['ending']) {
    this.#server = server;
    this.#ending = ending;
  }

  /** Throws SERVER_ADDRESS. */
  static async open(parts: LocalHttpParts): Promise<LocalHttp> {
    const server = createServer(
      { requestTimeout: requestMsMax, headersTimeout: requestMsMax },
      (request, response) => {
        const [path = ''] = (request.url ?? '').split('?');
        if (isAdmitted(request, response, path, parts)) parts.handle(request, response, path);
      },
    );
    server.maxConnections = connectionsMax;
    await listening(server, parts.port);
    return new LocalHttp(server, parts.ending);
  }

  get origin(): string {
    return `http://${host}:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    await this.#ending?.();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** What is still on its way is not read. */
export function refuse(
  response: ServerResponse,
  status: number,
  error: BusError,
  headers: Record<string, string> = {},
): void {
  const body = JSON.stringify({ error: { ...error.toFailure(), next: error.next } });
  const closing = { connection: 'close', 'content-type': 'application/json' };
  response.writeHead(status, { ...closing, ...headers }).end(body);
}

/** False: it has been answered already. */
function isAdmitted(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  { token, command, isOpen }: LocalHttpParts,
): boolean {
  const { host: asked = '', origin, authorization } = request.headers;
  const foreign = [`http://${asked}`, origin].find((each) => each !== undefined && !isLocal(each));
  if (foreign !== undefined) {
    refuse(response, 403, new BusError('SERVER_FOREIGN', { name: foreign.slice(0, 200) }));
    return false;
  }
  if (carries(authorization, token) || isOpen?.(request, path) === true) return true;
  const realm = { 'www-authenticate': 'Bearer' };
  refuse(response, 401, new BusError('SERVER_TOKEN', { command }), realm);
  return false;
}

function isLocal(url: string): boolean {
  return URL.canParse(url) && localNames.has(new URL(url).hostname);
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const address = `${host}:${port}`;
      reject(new BusError('SERVER_ADDRESS', { address, detail: error.message }, { cause: error }));
    });
    server.listen(port, host, () => resolve());
  });
}
