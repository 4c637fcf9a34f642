import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, expect, test } from 'vitest';
import { HttpSessions, sessionsMax } from '../../../services/mcp/http-sessions.js';

let closed = 0;
let sessions: HttpSessions;
const open = (): HttpSessions => {
  closed = 0;
  const newServer = (): McpServer => {
    const server = new McpServer({ name: 'test', version: '1' });
    server.server.onclose = () => void (closed += 1);
    return server;
  };
  return (sessions = new HttpSessions({ newServer, bodyBytesMax: 10_000 }));
};
afterEach(() => sessions[Symbol.asyncDispose]());

function post(body: object, session?: string): Promise<Response> {
  return sessions.fetch(
    new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    }),
  );
}

async function begin(): Promise<string> {
  const clientInfo = { name: 'client', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const response = await post({ method: 'initialize', params });
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
}

async function ping(session: string): Promise<number> {
  const response = await post({ method: 'ping' }, session);
  await response.text();
  return response.status;
}

test('one session too many costs the one that has been silent longest, which is told so', async () => {
  open();
  const ids: string[] = [];
  for (let at = 0; at < sessionsMax; at += 1) ids.push(await begin());
  expect(new Set(ids).size).toBe(sessionsMax);
  const [first = '', second = '', third = ''] = ids;
  // No longer the one that was silent longest.
  expect(await ping(first)).toBe(200);
  const one = await begin();
  expect([await ping(second), await ping(first), await ping(one)]).toEqual([404, 200, 200]);
  expect(closed).toBe(1);
  const other = await begin();
  expect([await ping(third), await ping(first), await ping(other)]).toEqual([404, 200, 200]);
  expect(closed).toBe(2);
});

test('what begins no session leaves none behind, and a client that leaves makes room', async () => {
  open();
  for (let at = 0; at < sessionsMax * 2; at += 1)
    expect((await post({ method: 'ping' })).status).toBe(400);
  expect(closed).toBe(sessionsMax * 2);
  const first = await begin();
  const leaving = await begin();
  const left = await sessions.fetch(
    new Request('http://127.0.0.1/mcp', {
      method: 'DELETE',
      headers: { 'mcp-session-id': leaving },
    }),
  );
  expect(left.status).toBe(200);
  for (let at = 1; at < sessionsMax; at += 1) await begin();
  expect([await ping(leaving), await ping(first)]).toEqual([404, 200]);
});
