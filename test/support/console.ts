import { request, type IncomingHttpHeaders } from 'node:http';
import { eventually } from './eventually.js';
import { sigma, startSigma, type Running } from './sigma.js';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: any;
}

export interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** One request as it is written here: `fetch` would mend its host and its path. */
export function send(origin: string, path: string, its: Sent = {}): Promise<Answer> {
  const { hostname, port } = new URL(origin);
  const { method = 'GET', headers = {}, body } = its;
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { statusCode: status = 0 } = response;
        resolve({ status, headers: response.headers, text, json: parsed(text) });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const tokenOf = (link: string): string => new URL(link).hash.replace('#token=', '');

export const json = { 'content-type': 'application/json' };

export function logIn(origin: string, token: string): Promise<Answer> {
  const body = JSON.stringify({ token });
  return send(origin, '/api/login', { method: 'POST', headers: json, body });
}

export interface LiveEvent {
  event: string;
  data: any;
}

/** A browser that is logged in. */
export class Browser {
  private constructor(
    readonly origin: string,
    readonly cookie: string,
    readonly greeting: any,
  ) {}

  static async open(link: string): Promise<Browser> {
    const { origin } = new URL(link);
    const answer = await logIn(origin, tokenOf(link));
    if (answer.status !== 200) throw new Error(answer.text);
    const [cookie = ''] = answer.headers['set-cookie']?.[0]?.split(';') ?? [];
    return new Browser(origin, cookie, answer.json);
  }

  get headers(): Record<string, string> {
    return { cookie: this.cookie, 'x-sigma-csrf': this.greeting.csrf };
  }

  get(path: string): Promise<Answer> {
    return send(this.origin, path, { headers: { cookie: this.cookie } });
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const all = { ...json, ...this.headers, ...headers };
    return send(this.origin, path, { method: 'POST', headers: all, body: JSON.stringify(body) });
  }

  call(name: string, input: object = {}, query = ''): Promise<Answer> {
    return this.post(`/api/call/${encodeURIComponent(name)}${query}`, input);
  }

  /** What it is told while it is open, and the end of it. */
  listen(): {
    events: LiveEvent[];
    status: Promise<number>;
    ended: Promise<void>;
    close: () => void;
  } {
    const events: LiveEvent[] = [];
    const over = new AbortController();
    const opened = fetch(`${this.origin}/api/live`, {
      headers: { cookie: this.cookie },
      signal: over.signal,
    });
    const ended = opened.then(async (response) => {
      let text = '';
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk as Uint8Array, { stream: true });
        const whole = text.split('\n\n');
        text = whole.pop() ?? '';
        for (const each of whole) {
          const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(each) ?? [];
          events.push({ event, data: JSON.parse(data) });
        }
      }
    });
    const closed = ended.catch(() => undefined);
    return {
      ...{ events, status: opened.then((its) => its.status), ended: closed },
      close: () => over.abort(),
    };
  }
}

export interface RunningConsole extends Running {
  origin: string;
  /** Of a browser that comes now. */
  link: () => Promise<string>;
}

export async function startConsole(
  home: string,
  args: string[] = [],
  begin = startSigma,
): Promise<RunningConsole> {
  const running = begin(home, ['console', ...args, '--port', '0']);
  await eventually(() => {
    if (!/^ready \S+$/m.test(running.output())) throw new Error(running.output());
  });
  const origin = /^ready (\S+)$/m.exec(running.output())?.[1] ?? '';
  const link = async (): Promise<string> =>
    (await sigma(home, ['console', '--link', '--json'])).json.link;
  return { ...running, origin, link };
}
