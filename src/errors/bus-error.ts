import { catalogue, isErrorCode, type ErrorCode, type ErrorEntry } from './catalogue.js';

export type ErrorData = Record<string, string | number | boolean>;

/** A failure on the wire: in `REJECT` bodies, in `errors[]`, in `--json` output. */
export interface Failure {
  code: string;
  text: string;
  retryable: boolean;
  /** Milliseconds to wait before a retry, if known. */
  retry_after_ms?: number;
}

/** The one error class of this program. Callers decide by `code` and `retryable`, never by text. */
export class BusError extends Error {
  readonly code: ErrorCode;
  readonly data: ErrorData;

  constructor(code: ErrorCode, data: ErrorData = {}, options?: ErrorOptions) {
    super(fill(catalogue[code].text, data), options);
    this.name = 'BusError';
    this.code = code;
    this.data = data;
  }

  get retryable(): boolean {
    return catalogue[this.code].retryable;
  }

  /** Milliseconds to wait before a retry; 0: unknown. */
  get retryAfterMs(): number {
    return typeof this.data.retryAfterMs === 'number' ? this.data.retryAfterMs : 0;
  }

  get exit(): ErrorEntry['exit'] {
    return catalogue[this.code].exit;
  }

  /** It is for those who run this to mend, not for those who ask. */
  get isFault(): boolean {
    return catalogue[this.code].isFault === true;
  }

  get next(): string {
    return fill(catalogue[this.code].next, this.data);
  }

  toFailure(): Failure {
    const { code, message: text, retryable, retryAfterMs } = this;
    return { code, text, retryable, ...(retryAfterMs > 0 && { retry_after_ms: retryAfterMs }) };
  }
}

/** A failure reported by a peer. The code may be unknown here (a newer peer); the text is kept. */
export class RemoteError extends BusError {
  constructor(readonly failure: Failure) {
    super(isErrorCode(failure.code) ? failure.code : 'INTERNAL', {
      detail: `${failure.code}: ${failure.text}`,
    });
    if (isErrorCode(failure.code)) this.message = failure.text;
  }

  /** The data does not travel: the name of each placeholder stands in for its value. */
  override get next(): string {
    return super.next.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase());
  }

  override get retryable(): boolean {
    return this.failure.retryable;
  }

  override get retryAfterMs(): number {
    return this.failure.retry_after_ms ?? 0;
  }

  override toFailure(): Failure {
    const { code, text, retryable } = this.failure;
    const { retryAfterMs } = this;
    return { code, text, retryable, ...(retryAfterMs > 0 && { retry_after_ms: retryAfterMs }) };
  }
}

export function asBusError(error: unknown): BusError {
  if (error instanceof BusError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new BusError('INTERNAL', { detail }, { cause: error });
}

function fill(template: string, data: ErrorData): string {
  return template.replace(/\{(\w+)(?:\|(\w+))?\}/g, (whole, name: string, usual?: string) =>
    Object.hasOwn(data, name) ? String(data[name]) : (usual ?? whole),
  );
}
