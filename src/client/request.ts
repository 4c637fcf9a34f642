import type { Reply } from './pending.js';

export interface RequestOptions {
  deadlineMs?: number;
  /** Safe to deliver twice: the request survives a lost connection, within its deadline. */
  isIdempotent?: boolean;
  signal?: AbortSignal;
  /** Parts of the answer, or progress, as they come. */
  onPartial?: (body: Buffer) => void;
}

/** The part of a client that asks. */
export interface Asker {
  request(to: string, type: string, body: Buffer, options: RequestOptions): Promise<Reply>;
}
