import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BusError } from '../../src/errors/bus-error.js';
import { HttpSessions } from './http-sessions.js';
import { newServer } from './server.js';
import { carries } from './token.js';
import type { Offer } from './tool.js';

const host = '127.0.0.1';
const endpoint = '/mcp';
/** One more is closed at once. */
const connectionsMax = 256;
const bodyBytesMax = 4 * 1024 * 1024;
/** From the first byte of a request to its last. */
const requestMsMax = 30_000;

/**
 * MCP over streamable HTTP for this machine alone. Nothing of a request is read before it has named
 * loopback as its host and origin (a web page whose name was made to resolve to 127.0.0.1 names another),
 * and has shown the token.
 */
export class McpHttp implements AsyncDisposable {
  readonly #server: Server;
  readonly #close: () => Promise<void>;

  private constructor(server: Server, close: () => Promise<void>) {
    this.#server = server;
    this.#close = close;
  }

  /** `port` 0: any. Throws MCP_ADDRESS. */
  static async open(parts: { port: number; token: string; offer: Offer }): Promise<McpHttp> {
    const { token, offer } = parts;
    const { log } = offer;
    const onerror = (error: Error): void => log.warn({ detail: error.message }, 'request failed');
    const sessions = new HttpSessions({
      newServer: () => newServer(offer, 'legacy'),
      bodyBytesMax,
    });
    const stateless = createMcpHandler(({ era }) => newServer(offer, era), {
      legacy: 'reject',
      maxRequestBodySize: bodyBytesMax,
      onerror,
    });
    const fetch = async (request: Request): Promise<Response> =>
      (await isLegacyRequest(request)) ? sessions.fetch(request) : stateless.fetch(request);
    const handle = toNodeHandler({ fetch }, { onerror, maxRequestBodySize: bodyBytesMax });
    const server = createServer(
      { requestTimeout: requestMsMax, headersTimeout: requestMsMax },
      (request, response) => {
        // Node says of an absent method that it is undefined; the adapter, that it is absent.
        const asked = request as Parameters<typeof handle>[0];
        if (isAdmitted(request, response, token)) void handle(asked, response);
      },
    );
    server.maxConnections = connectionsMax;
    await listening(server, parts.port);
    return new McpHttp(server, async () => {
      await stateless.close();
      await sessions[Symbol.asyncDispose]();
    });
  }

  get url(): string {
    return `http://${host}:${(this.#server.address() as AddressInfo).port}${endpoint}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    await this.#close();
    this.#server.closeAllConnections();
    await closed;
  }
}

const hasLocalHost = localhostHostValidation();
const hasLocalOrigin = localhostOriginValidation();

/** False: it has been answered already. */
function isAdmitted(request: IncomingMessage, response: ServerResponse, token: string): boolean {
  if (!hasLocalHost(request, response) || !hasLocalOrigin(request, response)) return false;
  if (!carries(request.headers.authorization, token)) {
    refuse(response, 401, new BusError('MCP_TOKEN'), { 'www-authenticate': 'Bearer' });
    return false;
  }
  const [path] = (request.url ?? '').split('?');
  if (path === endpoint) return true;
  response.writeHead(404).end();
  return false;
}

function refuse(
  response: ServerResponse,
  status: number,
  error: BusError,
  headers: Record<string, string>,
): void {
  const { next } = error;
  const body = JSON.stringify({ error: { ...error.toFailure(), next } });
  // What is still on its way is not read.
  const closing = { connection: 'close', 'content-type': 'application/json' };
  response.writeHead(status, { ...closing, ...headers }).end(body);
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const address = `${host}:${port}`;
      reject(new BusError('MCP_ADDRESS', { address, detail: error.message }, { cause: error }));
    });
    server.listen(port, host, () => resolve());
  });
}
