import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { BusError } from '../src/errors/bus-error.js';
import type { Site } from './site.js';
import { carries } from './token.js';

const loopback = '127.0.0.1';
/** One more is closed at once. */
const connectionsMax = 256;
/** From the first byte of a request to its last. */
const requestMsMax = 30_000;
/** Between two looks for requests that take longer. */
const lookEveryMs = 1_000;
/** As browsers and programs write this machine. */
const localNames: ReadonlySet<string> = new Set(['localhost', loopback, '[::1]']);

export interface HttpParts {
  /** 0: any. */
  port: number;
  /** Absent: this machine alone, without TLS. */
  site?: Site | undefined;
  /** Why a request is not let in; undefined: it is. */
  refusal: (request: IncomingMessage, path: string) => Refusal | undefined;
  /** Of every answer. */
  headers?: Readonly<Record<string, string>>;
  requestMs?: number;
  /** `path`: without what stands behind `?`. */
  handle: (request: IncomingMessage, response: ServerResponse, path: string) => void;
  /** Before connections are cut, when no new one is taken any more. */
  ending?: () => Promise<void>;
}

export interface Refusal {
  status: number;
  error: BusError;
  headers?: Record<string, string>;
}

/**
 * A server for this machine alone, or over TLS for those that know a name of its certificate. Nothing of a request is read
 * before it has named this server as its host and origin (a web page whose name was made to resolve to its address names
 * another), and is let in.
 */
export class HttpServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #parts: HttpParts;
  /** Also those that have not said yet who they are over TLS, of which the server knows nothing. */
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, parts: HttpParts) {
    this.#server = server;
    this.#parts = parts;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /** Throws SERVER_ADDRESS. */
  static async open(parts: HttpParts): Promise<HttpServer> {
    const { requestMs = requestMsMax, site, port } = parts;
    const limits = {
      ...{ requestTimeout: requestMs, headersTimeout: requestMs },
      connectionsCheckingInterval: lookEveryMs,
    };
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      for (const [name, value] of Object.entries(parts.headers ?? {}))
        response.setHeader(name, value);
      const [path = ''] = (request.url ?? '').split('?');
      const refusal = foreign(request, site) ?? parts.refusal(request, path);
      if (refusal === undefined) parts.handle(request, response, path);
      else refuse(response, refusal.status, refusal.error, refusal.headers);
    };
    const server =
      site === undefined
        ? createServer(limits, answer)
        : createTlsServer(
            { ...limits, handshakeTimeout: requestMs, cert: site.certificate, key: site.key },
            answer,
          );
    server.maxConnections = connectionsMax;
    const its = new HttpServer(server, parts);
    await listening(server, port, site?.address ?? loopback);
    return its;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get origin(): string {
    const { site } = this.#parts;
    return new URL(`${schemeOf(site)}://${site?.name ?? loopback}:${this.port}`).origin;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    await this.#parts.ending?.();
    for (const socket of this.#sockets) socket.destroy();
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

function schemeOf(site: Site | undefined): string {
  return site === undefined ? 'http' : 'https';
}

function foreign({ headers }: IncomingMessage, site: Site | undefined): Refusal | undefined {
  const { host = '', origin } = headers;
  const isOurs = (url: string): boolean => {
    if (!URL.canParse(url)) return false;
    const { hostname } = new URL(url);
    return site === undefined ? localNames.has(hostname) : site.isNamed(hostname);
  };
  const asked = `${schemeOf(site)}://${host}`;
  const name = [asked, origin].find((each) => each !== undefined && !isOurs(each));
  if (name === undefined) return undefined;
  return { status: 403, error: new BusError('SERVER_FOREIGN', { name: name.slice(0, 200) }) };
}

/** Lets in those that show the token, which `command` prints the file of. `isOpen`: what may be read without it. */
export function byToken(
  token: string,
  command: string,
  isOpen: (request: IncomingMessage, path: string) => boolean = () => false,
): HttpParts['refusal'] {
  return (request, path) => {
    if (carries(request.headers.authorization, token) || isOpen(request, path)) return undefined;
    const headers = { 'www-authenticate': 'Bearer' };
    return { status: 401, error: new BusError('SERVER_TOKEN', { command }), headers };
  };
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const address = `${host}:${port}`;
      reject(new BusError('SERVER_ADDRESS', { address, detail: error.message }, { cause: error }));
    });
    server.listen(port, host, () => resolve());
  });
}

/** Throws TOO_LARGE before more than the limit was kept. */
export async function bodyOf(request: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax)
      throw new BusError('TOO_LARGE', { what: 'a message', bytes, limit: bytesMax });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Undefined: it is not JSON. */
export function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

export function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

const usageExit = 2;
const unknownExit = 3;

/** 422: it was understood, but what it names is not there or not so. */
export function statusOf({ code, exit, retryable, isFault }: BusError): number {
  if (code === 'UNAUTHORISED') return 403;
  if (code === 'TOO_LARGE') return 413;
  if (exit === usageExit) return 400;
  if (retryable) return 503;
  if (isFault) return 500;
  return exit === unknownExit ? 404 : 422;
}
