export interface Reply {
  from: string;
  type: string;
  body: Buffer;
  /** Of an ACCEPT: the broker's sequence number. */
  seq: number;
}

export interface RequestOptions {
  deadlineMs?: number | undefined;
  /** Safe to deliver twice: the request survives a lost connection, within its deadline. */
  isIdempotent?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Parts of the answer, or progress, as they come. */
  onPartial?: ((body: Buffer) => void) | undefined;
}

/** The part of a client that asks. */
export interface Asker {
  request(to: string, type: string, body: Buffer, options: RequestOptions): Promise<Reply>;
}
