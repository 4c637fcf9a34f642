import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import { byToken, HttpServer } from '../http-server.js';
import { HttpSessions } from './http-sessions.js';
import { newServer } from './server.js';
import type { Offer } from './tool.js';

const endpoint = '/mcp';
const bodyBytesMax = 4 * 1024 * 1024;

/** MCP over streamable HTTP for this machine alone. */
export class McpHttp implements AsyncDisposable {
  readonly #server: HttpServer;

  private constructor(server: HttpServer) {
    this.#server = server;
  }

  /** `port` 0: any. Throws SERVER_ADDRESS. */
  static async open(parts: { port: number; token: string; offer: Offer }): Promise<McpHttp> {
    const { port, token, offer } = parts;
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
    const server = await HttpServer.open({
      port,
      refusal: byToken(token, 'sigma mcp --http'),
      handle: (request, response, path) => {
        // Node says of an absent method that it is undefined; the adapter, that it is absent.
        if (path === endpoint) void handle(request as Parameters<typeof handle>[0], response);
        else response.writeHead(404).end();
      },
      ending: async () => {
        await stateless.close();
        await sessions[Symbol.asyncDispose]();
      },
    });
    return new McpHttp(server);
  }

  get url(): string {
    return `${this.#server.origin}${endpoint}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}
