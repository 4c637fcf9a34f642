import type { IncomingMessage, ServerResponse } from 'node:http';
import { asBusError, BusError } from '../../src/errors/bus-error.js';
import type { Logger } from '../../src/observe/log.js';
import {
  bodyOf,
  byToken,
  HttpServer,
  parsed,
  refuse,
  sendJson,
  statusOf,
  type Refusal,
} from '../http-server.js';
import type { Calls } from './calls.js';
import type { PageFiles } from './files.js';
import type { Live, Tell } from './live.js';
import type { Samples } from './samples.js';
import type { Site } from '../site.js';
import { isSame, sessionLimits, type Session, type Sessions } from './sessions.js';

const bodyBytesMax = 1024 * 1024;
/** A page that does not read is let go. */
const unreadBytesMax = 1024 * 1024;
/** From the first byte of a request to its last. */
const requestMsMax = 15_000;
const tokenCharsMax = 200;
const callPath = '/api/call/';

const policy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
  ...["img-src 'self' data:", "font-src 'self'", "base-uri 'none'", "form-action 'none'"],
  ...["frame-ancestors 'none'", "require-trusted-types-for 'script'"],
].join('; ');

const headers = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

export interface ConsoleParts {
  /** Absent: browsers of this machine alone. */
  site?: Site | undefined;
  files: PageFiles;
  sessions: Sessions;
  calls: Calls;
  live: Live;
  samples: Samples;
  /** Who may have a new link: the person, who can read the file with this. */
  secret: string;
  /** What a page is told when it begins. */
  greeting: () => Promise<Greeting>;
  log: Logger;
  requestMs?: number;
}

export interface Greeting {
  person: string;
  read_only: boolean;
  version: string;
  /** Folders of the trees that can be asked about. */
  trees: string[];
}

type Handler = (request: IncomingMessage, response: ServerResponse, path: string) => Promise<void>;

/** The console over HTTP: its page, and what the page asks. */
export class ConsoleHttp implements AsyncDisposable {
  readonly #parts: ConsoleParts;
  #server: HttpServer | undefined;

  private constructor(parts: ConsoleParts) {
    this.#parts = parts;
  }

  /** `port` 0: any. Throws SERVER_ADDRESS. */
  static async open(port: number, parts: ConsoleParts): Promise<ConsoleHttp> {
    const its = new ConsoleHttp(parts);
    its.#server = await HttpServer.open({
      ...{ port, site: parts.site, headers, requestMs: parts.requestMs ?? requestMsMax },
      refusal: (request, path) => its.#refusal(request, path),
      handle: (request, response, path) => void its.#handle(request, response, path),
      ending: () => Promise.resolve(parts.sessions[Symbol.dispose]()),
    });
    return its;
  }

  get origin(): string {
    return this.#server?.origin ?? '';
  }

  get port(): number {
    return this.#server?.port ?? 0;
  }

  /** An address that logs in once. */
  newLink(): string {
    return `${this.origin}/#token=${this.#parts.sessions.newLink()}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }

  /** The page is for all: nothing in it is secret. What it asks is for a session; its own origin alone may ask. */
  #refusal(request: IncomingMessage, path: string): Refusal | undefined {
    if (!path.startsWith('/api/')) return undefined;
    const { host = '' } = request.headers;
    const own = `${this.#isSecure ? 'https' : 'http'}://${host}`;
    const { origin = own, 'sec-fetch-site': site = 'same-origin' } = request.headers;
    if (origin !== own || !['same-origin', 'none'].includes(site))
      return { status: 403, error: new BusError('SERVER_FOREIGN', { name: origin.slice(0, 200) }) };
    if (path === '/api/link') return byToken(this.#parts.secret, 'sigma console')(request, path);
    if (path === '/api/login' || this.#sessionOf(request) !== undefined) return undefined;
    return { status: 401, error: new BusError('CONSOLE_SESSION') };
  }

  async #handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    try {
      const name = path.startsWith(callPath) ? callPath : path;
      const handler = this.#handlers[`${request.method} ${name}`];
      if (handler !== undefined) return await handler(request, response, path);
      if (request.method !== 'GET' || path.startsWith('/api/'))
        throw new BusError('CONSOLE_NOTHING', { path: path.slice(0, 200) });
      await this.#sendFile(response, path);
    } catch (error) {
      const coded = asBusError(error);
      if (coded.code === 'INTERNAL')
        this.#parts.log.error({ path, detail: coded.message }, 'request failed');
      if (response.headersSent) response.destroy();
      else refuse(response, consoleStatusOf(coded), coded);
    }
  }

  readonly #handlers: Readonly<Record<string, Handler>> = {
    'POST /api/link': (_request, response) =>
      Promise.resolve(sendJson(response, { link: this.newLink() })),
    'POST /api/login': async (request, response) => {
      const { token } = (await sentIn(request)) as { token?: unknown };
      const { sessions, log } = this.#parts;
      if (typeof token !== 'string' || token.length > tokenCharsMax)
        throw new BusError('CONSOLE_LINK');
      const cookie = sessions.begin(token);
      // Whom the browser was before, it is not any more.
      sessions.end(this.#cookieOf(request));
      log.info({ address: request.socket.remoteAddress }, 'logged in');
      const life = Math.round(sessionLimits.lifeMs / 1_000);
      response.setHeader('set-cookie', this.#cookie(cookie, life));
      await this.#greet(response, sessions.of(cookie));
    },
    'GET /api/session': (request, response) => this.#greet(response, this.#sessionOf(request)),
    'POST /api/logout': async (request, response) => {
      await this.#sentBy(request);
      this.#parts.sessions.end(this.#cookieOf(request));
      response.setHeader('set-cookie', this.#cookie('', 0));
      sendJson(response, {});
    },
    'GET /api/live': (request, response) => {
      this.#listen(this.#session(request), response);
      return Promise.resolve();
    },
    'GET /api/health': async (_request, response) => {
      const { samples } = this.#parts;
      sendJson(response, { doctor: await samples.doctor(), samples: samples.all });
    },
    [`POST ${callPath}`]: (request, response, path) => this.#call(request, response, path),
  };

  async #call(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const { session, body: input } = await this.#sentBy(request);
    const limit = sessionLimits.callsMax;
    if (session.calls >= limit) throw new BusError('CONSOLE_BUSY', { limit, what: 'questions' });
    session.calls += 1;
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    response.on('close', leave);
    session.over.addEventListener('abort', leave);
    try {
      const query = new URLSearchParams((request.url ?? '').slice(path.length + 1));
      const [tree, as] = [query.get('tree') ?? undefined, query.get('as') ?? undefined];
      const name = nameIn(path);
      const { calls } = this.#parts;
      const answer = await calls.run({ name, input, tree, as, signal: gone.signal });
      response.on('finish', answer.settle);
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer.body);
    } finally {
      session.calls -= 1;
      session.over.removeEventListener('abort', leave);
    }
  }

  #listen(session: Session, response: ServerResponse): void {
    const limit = sessionLimits.streamsMax;
    if (session.streams >= limit) throw new BusError('CONSOLE_BUSY', { limit, what: 'open pages' });
    session.streams += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const tell: Tell = (event, data) => {
      if (response.writableLength > unreadBytesMax) response.destroy();
      else response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    };
    const listening = this.#parts.live.add(tell);
    const end = (): void => void response.end();
    session.over.addEventListener('abort', end);
    response.on('close', () => {
      session.streams -= 1;
      session.over.removeEventListener('abort', end);
      listening[Symbol.dispose]();
    });
  }

  async #sendFile(response: ServerResponse, path: string): Promise<void> {
    const file = this.#parts.files.at(path);
    // Built anew since, it may be gone.
    const body = await file?.read().catch(() => undefined);
    if (file === undefined || body === undefined)
      throw new BusError('CONSOLE_NOTHING', { path: path.slice(0, 200) });
    response.writeHead(200, file.headers).end(body);
  }

  async #greet(response: ServerResponse, session: Session | undefined): Promise<void> {
    if (session === undefined) throw new BusError('CONSOLE_SESSION');
    sendJson(response, { csrf: session.csrf, ...(await this.#parts.greeting()) });
  }

  /** What a page of this session sent. Throws CONSOLE_SESSION, CONSOLE_CSRF, TOO_LARGE. */
  async #sentBy(request: IncomingMessage): Promise<{ session: Session; body: object }> {
    const session = this.#session(request);
    if (!isSame(String(request.headers['x-sigma-csrf'] ?? ''), session.csrf))
      throw new BusError('CONSOLE_CSRF');
    const body = await sentIn(request);
    // It may have ended while the request was on its way.
    if (session.over.aborted) throw new BusError('CONSOLE_SESSION');
    return { session, body };
  }

  #session(request: IncomingMessage): Session {
    const session = this.#sessionOf(request);
    if (session === undefined) throw new BusError('CONSOLE_SESSION');
    return session;
  }

  #sessionOf(request: IncomingMessage): Session | undefined {
    return this.#parts.sessions.of(this.#cookieOf(request));
  }

  get #isSecure(): boolean {
    return this.#parts.site !== undefined;
  }

  /** Browsers send a cookie to all ports of a host: each console has a name of its own. */
  get #cookieName(): string {
    // By this prefix a browser keeps it only as its server alone, over TLS, has set it.
    return `${this.#isSecure ? '__Host-' : ''}sigma_console_${this.port}`;
  }

  #cookie(value: string, seconds: number): string {
    const secure = this.#isSecure ? '; Secure' : '';
    return `${this.#cookieName}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${seconds}${secure}`;
  }

  #cookieOf({ headers: { cookie = '' } }: IncomingMessage): string {
    const start = `${this.#cookieName}=`;
    const found = cookie.split(/; */).find((each) => each.startsWith(start));
    return found?.slice(start.length) ?? '';
  }
}

/** A form of another page cannot send JSON. Throws CONSOLE_CSRF, TOO_LARGE. */
async function sentIn(request: IncomingMessage): Promise<object> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json') throw new BusError('CONSOLE_CSRF');
  const value = parsed(await bodyOf(request, bodyBytesMax));
  if (typeof value === 'object' && value !== null) return value;
  throw new BusError('USAGE', { detail: 'the body is no JSON object' });
}

function nameIn(path: string): string {
  try {
    return decodeURIComponent(path.slice(callPath.length));
  } catch {
    return '';
  }
}

const statuses: Partial<Record<BusError['code'], number>> = {
  CONSOLE_LINK: 401,
  CONSOLE_SESSION: 401,
  CONSOLE_CSRF: 403,
  CONSOLE_READ_ONLY: 403,
  CONSOLE_BUSY: 429,
  CONSOLE_NOTHING: 404,
};

function consoleStatusOf(error: BusError): number {
  return statuses[error.code] ?? statusOf(error);
}
