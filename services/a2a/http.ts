import {
  A2A_VERSION_HEADER,
  formatSSEErrorEvent,
  formatSSEEvent,
  SSE_HEADERS,
  type AgentCardSignatureGenerator,
} from '@a2a-js/sdk';
import { A2A_ERROR_CODE, ContentTypeNotSupportedError, toJsonRpcError } from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from '@a2a-js/sdk/server';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { asBusError } from '../../src/errors/bus-error.js';
import type { Logger } from '../../src/observe/log.js';
import type { Bus } from '../bus.js';
import { bodyOf, byToken, HttpServer, parsed, refuse, sendJson, statusOf } from '../http-server.js';
import type { PublishedKey } from './card-key.js';
import { Cards, type ServedCard } from './cards.js';
import { Desk } from './desk.js';
import { failureOf } from './failure.js';

const cardPath = '/.well-known/agent-card.json';
const keysPath = '/.well-known/jwks.json';
const bodyBytesMax = 4 * 1024 * 1024;
/** A card may be taken from a cache for so long. */
const cardSeconds = 60;

/** Cards, and the keys that prove them. */
const isOpen = ({ method }: IncomingMessage, path: string): boolean =>
  method === 'GET' && [cardPath, keysPath].includes(path);

type Answer = Awaited<ReturnType<JsonRpcTransportHandler['handle']>>;
type Stream = Extract<Answer, AsyncGenerator>;

interface Parts {
  bus: Bus;
  log: Logger;
  published: PublishedKey;
  sign: AgentCardSignatureGenerator;
}

/** A2A over JSON-RPC, for this machine alone: a card and an address for each agent, and the list of them. */
export class A2aHttp implements AsyncDisposable {
  readonly #parts: Parts;
  readonly #cards: Cards;
  #server: HttpServer | undefined;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.#cards = new Cards({ ...parts, origin: () => this.url });
  }

  /** `port` 0: any. Throws SERVER_ADDRESS. */
  static async open(parts: Parts & { port: number; token: string }): Promise<A2aHttp> {
    const its = new A2aHttp(parts);
    const { port, token } = parts;
    its.#server = await HttpServer.open({
      port,
      refusal: byToken(token, 'sigma a2a', isOpen),
      handle: (request, response, path) => void its.#handle(request, response, path),
    });
    return its;
  }

  get url(): string {
    return this.#server?.origin ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }

  async #handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const { signal } = gone;
    try {
      const name = nameIn(path);
      if (request.method === 'POST' && name !== undefined)
        return await this.#call(name, request, response, signal);
      if (request.method !== 'GET') return void response.writeHead(404).end();
      if (path === cardPath) return sendCard(request, response, await this.#cards.front());
      if (path === keysPath) return sendJson(response, { keys: [this.#parts.published] });
      if (path === '/agents')
        return sendJson(response, await this.#cards.list(queryOf(request), signal));
      if (name === undefined) return void response.writeHead(404).end();
      const card = await this.#cards.signed(await this.#cards.find(name));
      return sendCard(request, response, card);
    } catch (error) {
      const coded = asBusError(error);
      this.#parts.log.warn({ code: coded.code, path }, 'request failed');
      if (response.headersSent) response.destroy();
      else refuse(response, statusOf(coded), coded);
    }
  }

  /** One call of JSON-RPC. Its failures are answers, too. */
  async #call(
    name: string,
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const { bus, log } = this.#parts;
    const startedMs = performance.now();
    const agent = await this.#cards.find(name);
    const { card } = await this.#cards.signed(agent);
    const body = await bodyOf(request, bodyBytesMax);
    const call = parsed(body);
    const id = idOf(call);
    try {
      const [type = ''] = (request.headers['content-type'] ?? 'application/json').split(';');
      if (type.trim().toLowerCase() !== 'application/json')
        throw new ContentTypeNotSupportedError(`a call is application/json, not ${type}`);
      if (typeof call !== 'object' || call === null || !('method' in call)) {
        const [code, message] =
          call === undefined
            ? [A2A_ERROR_CODE.PARSE_ERROR, 'it is not JSON']
            : [A2A_ERROR_CODE.INVALID_REQUEST, 'it is no call of JSON-RPC 2.0'];
        return sendJson(response, { jsonrpc: '2.0', id, error: { code, message } });
      }
      const asked = request.headers[A2A_VERSION_HEADER.toLowerCase()];
      const context = new ServerCallContext(
        typeof asked === 'string' ? { requestedVersion: asked } : {},
      );
      validateVersion(context.requestedVersion, card, 'JSONRPC');
      const desk = new Desk({ agent, card, bus, signal });
      const handler = new JsonRpcTransportHandler(desk);
      const answer = await handler.handle(call, context);
      if (Symbol.asyncIterator in answer) await sendEvents(response, answer);
      else sendJson(response, answer);
    } catch (error) {
      const failure = { jsonrpc: '2.0', id, error: toJsonRpcError(failureOf(error)) };
      if (response.headersSent) response.end(formatSSEErrorEvent(failure));
      else sendJson(response, failure);
    } finally {
      const elapsed_ms = Math.round(performance.now() - startedMs);
      const method = String((call as { method?: unknown } | undefined)?.method).slice(0, 64);
      log.info({ agent: agent.id, method, elapsed_ms }, 'called');
    }
  }
}

/** `/agents/NAME`, also before the path of its card. */
function nameIn(path: string): string | undefined {
  const [, name] = /^\/agents\/([^/]+)(?:\/|\/\.well-known\/agent-card\.json)?$/.exec(path) ?? [];
  try {
    return name === undefined ? undefined : decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  return new URLSearchParams(url.slice(url.indexOf('?') + 1 || url.length));
}

function idOf(call: unknown): string | number | null {
  const id = (call as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

function sendCard({ headers }: IncomingMessage, response: ServerResponse, card: ServedCard): void {
  const known = {
    etag: card.etag,
    'cache-control': `private, max-age=${cardSeconds}`,
    'last-modified': card.since.toUTCString(),
  };
  if (headers['if-none-match'] === card.etag) return void response.writeHead(304, known).end();
  response.writeHead(200, { 'content-type': 'application/json', ...known }).end(card.body);
}

/** What fails before the first event is an answer like any other. */
async function sendEvents(response: ServerResponse, events: Stream): Promise<void> {
  for await (const event of events) {
    if (!response.headersSent) response.writeHead(200, SSE_HEADERS);
    response.write(formatSSEEvent(event));
  }
  response.end();
}
