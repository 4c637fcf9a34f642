import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { call, CallError, session, type Session } from '../../../services/console/page/call.js';
import { bus, listen, onChanged } from '../../../services/console/page/live.js';

/** A browser as far as these two need one; the server and the page are played by the test. */
class Source extends EventTarget {
  static readonly CLOSED = 2;
  static readonly open = new Set<Source>();
  readyState = 0;

  constructor() {
    super();
    Source.open.add(this);
  }

  close(): void {
    this.readyState = Source.CLOSED;
    Source.open.delete(this);
  }

  tell(event: string, data: object): void {
    this.dispatchEvent(new MessageEvent(event, { data: JSON.stringify(data) }));
  }
}

const its: Session = { csrf: 'one', person: 'Ann', read_only: false, version: '1', trees: [] };
let page: EventTarget & { hidden: boolean };

beforeEach(() => {
  page = Object.assign(new EventTarget(), { hidden: false });
  vi.stubGlobal('document', page);
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal('location', { hash: '' });
  vi.stubGlobal('EventSource', Source);
  session.value = its;
  bus.value = { state: 'unknown' };
});
afterEach(() => {
  vi.unstubAllGlobals();
  Source.open.clear();
});

function look(hidden: boolean): void {
  page.hidden = hidden;
  page.dispatchEvent(new Event('visibilitychange'));
}

/** A server whose session has this mark. */
function served(csrf: string): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    asked.push(path);
    if (path === '/api/session') return Promise.resolve(Response.json({ ...its, csrf }));
    if (new Headers(init.headers).get('x-sigma-csrf') === csrf)
      return Promise.resolve(Response.json({ value: { agents: [] }, text: '' }));
    const error = { code: 'CONSOLE_CSRF', text: 'the mark', retryable: false, next: '' };
    return Promise.resolve(Response.json({ error }, { status: 403 }));
  });
  return asked;
}

test('a page goes on with the session that another page of its browser began', async () => {
  const asked = served('two');
  expect((await call('list_agents', {})).value).toEqual({ agents: [] });
  expect(asked).toEqual(['/api/call/list_agents', '/api/session', '/api/call/list_agents']);
  expect(session.value?.csrf).toBe('two');
});

test('so does a call whose refusal comes when the page has that session already', async () => {
  served('two');
  const answer = globalThis.fetch;
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let isFirst = true;
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    const isLate = isFirst;
    isFirst = false;
    if (isLate) await held;
    return answer(path, init);
  });
  const late = call('list_agents', {});
  await call('list_agents', {});
  release();
  expect((await late).value).toEqual({ agents: [] });
});

test('a mark that is refused although it is that of the session is not sent again', async () => {
  const asked = served('two');
  const answer = globalThis.fetch;
  vi.stubGlobal('fetch', (path: string, init: RequestInit) =>
    path === '/api/session'
      ? (asked.push(path), Promise.resolve(Response.json(its)))
      : answer(path, init),
  );
  await expect(call('list_agents', {})).rejects.toThrow(CallError);
  expect(asked).toEqual(['/api/call/list_agents', '/api/session']);
});

test('a hidden page holds no connection; seen again it asks anew for what it shows', () => {
  const changes: string[] = [];
  const endChanges = onChanged(['mail'], () => changes.push('mail'));
  const end = listen();
  const first = [...Source.open].at(-1);
  first?.tell('bus', { state: 'online' });
  expect([Source.open.size, bus.value.state, changes]).toEqual([1, 'online', []]);
  look(true);
  expect(Source.open.size).toBe(0);
  look(false);
  const second = [...Source.open].at(-1);
  expect(Source.open.size).toBe(1);
  second?.tell('bus', { state: 'online' });
  expect(changes).toEqual(['mail']);
  second?.tell('bus', { state: 'offline', code: 'NO_BROKER' });
  expect([bus.value.state, changes]).toEqual(['offline', ['mail']]);
  second?.tell('bus', { state: 'online' });
  expect(changes).toEqual(['mail', 'mail']);
  end();
  look(true);
  look(false);
  expect(Source.open.size).toBe(0);
  endChanges();
});
