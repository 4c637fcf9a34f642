/** One change of the store. Operations handed over together happen together or not at all. */
export type Operation = { type: 'put'; key: string; value: Buffer } | { type: 'del'; key: string };

export interface Range {
  /** All keys that start with this, in key order. */
  prefix: string;
  /** Start behind this key. */
  after?: string;
  limit?: number;
}

/** `failed`: nothing can be read or written until the store has opened itself again. */
export type StoreState = 'serving' | 'failed';

/**
 * An ordered map of text keys to bytes, owned by one process at a time. Everything handed over, by
 * `commit` or `write`, takes effect in the order of the calls. Every call but the two of the last
 * section rejects STORE_UNAVAILABLE (retryable), at once while the state is `failed`.
 */
export interface Store extends AsyncDisposable {
  get(key: string): Promise<Buffer | undefined>;
  /** In the order of `keys`. */
  getMany(keys: string[]): Promise<(Buffer | undefined)[]>;
  /** A snapshot of the moment when the walk begins. */
  entries(range: Range): AsyncIterable<[key: string, value: Buffer]>;
  keys(range: Range): AsyncIterable<string>;
  /**
   * Whether `bytes` more may wait for the disk. For new content, which can be
   * refused; what settles or ends what is stored is always taken.
   */
  hasRoom(bytes: number): boolean;
  /** Resolves after fsync. Everything that waits when a write starts rides in that write. */
  commit(operations: Operation[]): Promise<void>;
  /**
   * Not synced: for what can be computed or settled again. Survives the process, but not a power cut;
   * a later `commit` that survived one does not show that it did.
   */
  write(operations: Operation[]): Promise<void>;

  readonly state: StoreState;
  /**
   * Called, before anything else can be written, each time the store serves again after a failure.
   * Rejected operations may be on disk: the owner must read its state again.
   */
  onReopened(listener: () => void): Disposable;
}

export interface BackupReport {
  entries: number;
  /** Of keys and values. */
  bytes: number;
  elapsedMs: number;
}

/** What an administrator may ask of a store that serves. */
export interface Upkeep {
  /**
   * Copies the store as it is at this moment into `folder`: absolute, absent or empty. Throws
   * BACKUP_FOLDER, STORE_UNAVAILABLE; then nothing is left of it.
   */
  backup(folder: string): Promise<BackupReport>;
  /** Gives the space of what was deleted or overwritten back to the disk. Throws STORE_UNAVAILABLE. */
  compact(): Promise<void>;
}
