import { BusError } from '../../errors/bus-error.js';
import { attention, codec } from '../../wire/codec.js';

/** A SessionView, an array of them, or an AttendRequest as a person writes it. */
export interface AttendDocument {
  json: Uint8Array;
}

export interface AttendQuery {
  context: string;
  wait_ms: number;
  revision: number;
}

export const attendWords = ['answer', 'withdraw', 'escape'] as const;
export type AttendWordName = (typeof attendWords)[number];

export interface AttendWord {
  context: string;
  what: AttendWordName;
  question: number;
  choice: string;
  text: string;
}

export interface AttendsQuery {
  is_all: boolean;
  limit: number;
}

const answer = codec<AttendDocument>(attention.AttendDocument);

/** What is said about sessions to a manager, under the service of tasks. */
export const attendMessages = {
  begin: { type: 'attend.begin', request: answer, answer },
  show: {
    type: 'attend.show',
    request: codec<AttendQuery>(attention.AttendQuery),
    answer,
  },
  list: {
    type: 'attend.list',
    request: codec<AttendsQuery>(attention.AttendsQuery),
    answer,
  },
  say: { type: 'attend.say', request: codec<AttendWord>(attention.AttendWord), answer },
} as const;

/** Durable, to each member of a team whose session is withdrawn. */
export const shutdownType = 'shutdown_request';

interface Shutdown {
  session: string;
  team: string;
  reason: string;
}

export function shutdownBody(said: Shutdown): Buffer {
  return Buffer.from(JSON.stringify(said));
}

/** Throws MALFORMED_PAYLOAD. */
export function readShutdown(body: Uint8Array): Shutdown {
  let value: Partial<Record<keyof Shutdown, unknown>> | null;
  try {
    value = JSON.parse(Buffer.from(body).toString()) as typeof value;
  } catch {
    throw new BusError('MALFORMED_PAYLOAD', { detail: 'this is no JSON' });
  }
  const { session, team, reason } = value ?? {};
  if (typeof session !== 'string' || session === '')
    throw new BusError('MALFORMED_PAYLOAD', { detail: 'it names no session' });
  const text = (field: unknown): string => (typeof field === 'string' ? field : '');
  return { session, team: text(team), reason: text(reason) };
}
