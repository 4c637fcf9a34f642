import { BusError } from '../../errors/bus-error.js';
import { isObject, objectIn } from './words.js';

// The Synadia Agent Protocol for NATS, version 0.3: what both sides of it say.

export const agentsService = 'agents';
export const agentsQueue = 'agents';
export const protocolVersion = '0.3';
export const heartbeatSubjects = 'agents.hb.*.*.*';

/** In the metadata of our agents, beside what the protocol asks for: the bus that they are on. */
export const busKey = 'sigma_bus';

type AgentVerb = 'prompt' | 'status' | 'hb';

export interface AgentIdentity {
  /** The program that it is an agent of. */
  agent: string;
  owner: string;
  name: string;
}

export function agentSubject(verb: AgentVerb, { agent, owner, name }: AgentIdentity): string {
  return `agents.${verb}.${agent}.${owner}.${name}`;
}

export interface Heartbeat {
  instance: string;
  intervalMs: number;
}

/** Also the answer of `status`. */
export function heartbeatOf(
  { agent, owner, name }: AgentIdentity,
  { instance, intervalMs }: Heartbeat,
  nowMs: number,
): string {
  const ts = new Date(nowMs).toISOString();
  const interval_s = intervalMs / 1000;
  return JSON.stringify({ agent, owner, session: name, instance_id: instance, ts, interval_s });
}

/** Undefined: it is none. */
export function heartbeatIn(body: Uint8Array, bytesMax: number): Heartbeat | undefined {
  const { instance_id: instance, interval_s: seconds } = objectIn(body, bytesMax) ?? {};
  if (typeof instance !== 'string' || !isInstance(instance)) return undefined;
  if (typeof seconds !== 'number' || !(seconds > 0)) return undefined;
  return { instance, intervalMs: seconds * 1000 };
}

/** It becomes a token of a subject. */
export function isInstance(id: string): boolean {
  return /^[\w-]{1,64}$/.test(id);
}

export function promptBody(text: string): string {
  return JSON.stringify({ prompt: text });
}

/** The text of a prompt: plain, or in JSON. Throws MALFORMED_PAYLOAD. */
export function promptIn(body: Uint8Array): string {
  const text = utf8In(body);
  if (!/^[\t\n\r ]*\{/.test(text)) return nonEmpty(text);
  const envelope = objectIn(body, Infinity);
  if (typeof envelope?.prompt !== 'string') throw malformed('a JSON request has a text `prompt`');
  const { prompt, attachments } = envelope;
  const isBare = attachments === undefined || (Array.isArray(attachments) && !attachments.length);
  if (!isBare) throw malformed('attachments are not taken');
  return nonEmpty(prompt);
}

function utf8In(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    throw malformed('the prompt is not UTF-8 text', { cause: error });
  }
}

function nonEmpty(prompt: string): string {
  if (prompt.trim() === '') throw malformed('the prompt is empty');
  return prompt;
}

function malformed(detail: string, options?: ErrorOptions): BusError {
  return new BusError('MALFORMED_PAYLOAD', { detail }, options);
}

export const ackChunk = JSON.stringify({ type: 'status', data: 'ack' });

/** A text as chunks of an answer; no character is halved. */
export function* responseChunks(text: string, charsMax: number): Generator<string> {
  for (let from = 0; from < text.length;) {
    let end = Math.min(from + charsMax, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last < 0xdc00 && end - from > 1) end -= 1;
    yield JSON.stringify({ type: 'response', data: text.slice(from, end) });
    from = end;
  }
}

/** `text`: a part of the answer. `question`: it wants an answer first. Neither: it says only that it is at work. */
export interface Chunk {
  text?: string;
  question?: string;
}

/** Throws MALFORMED_PAYLOAD. */
export function chunkIn(body: Uint8Array): Chunk {
  const { type, data } = objectIn(body, Infinity) ?? {};
  if (typeof type !== 'string') throw malformed('a chunk of an answer is JSON with a `type`');
  if (type === 'response') return { text: wordsIn(data, 'text') };
  return type === 'query' ? { question: wordsIn(data, 'prompt') } : {};
}

function wordsIn(data: unknown, name: string): string {
  const words = isObject(data) ? data[name] : data;
  if (typeof words !== 'string') throw malformed(`a chunk of an answer has no \`${name}\``);
  return words;
}

const units = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 } as const;

/** `512KB` as a number; undefined: it is no size. */
export function bytesIn(size: string): number | undefined {
  const [, digits, unit] = /^\s*(\d{1,9})\s*(B|KB|MB|GB)\s*$/i.exec(size) ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  return Number(digits) * units[unit.toUpperCase() as keyof typeof units];
}
