import type { StoredSnapshot } from '../machine/step.js';
import type { Operation } from '../store/port.js';
import { critiqueKey, reportKey, reviewedKey, reviewKey } from '../store/keys.js';
import type { Critique, CritiqueRequest, ModeReport, Selection } from './shapes.js';

/** One review as it lies on disk: small, so that all of them are read when a critic begins. */
export interface ReviewRecord {
  version: 1;
  id: string;
  /** Of what was asked: the same id is the same review. */
  wishes: string;
  artifact: string;
  /** Of its text. */
  digest: string;
  iteration: number;
  selection: Selection;
  /** Of the pipeline. */
  snapshot: StoredSnapshot;
  begun_ms: number;
  /** 0: it is under way. */
  ended_ms: number;
  /** Whoever keeps the history of artifacts knows of it. */
  is_told: boolean;
}

export function put(key: string, value: unknown): Operation {
  return { type: 'put', key, value: Buffer.from(JSON.stringify(value)) };
}

export const del = (key: string): Operation => ({ type: 'del', key });

/** A review that begins, with all that it needs to go on in another process. */
export function begunOperations(record: ReviewRecord, request: CritiqueRequest): Operation[] {
  return [put(reviewKey(record.id), record), put(reviewedKey(record.id), request)];
}

/** After a mode: what it said, and where the pipeline stands, together. */
export function keptOperations(
  record: ReviewRecord,
  reports: ReadonlyMap<number, ModeReport>,
): Operation[] {
  const said = [...reports].map(([at, report]) => put(reportKey(record.id, at), report));
  return [put(reviewKey(record.id), record), ...said];
}

/** Its parts make room for the whole. */
export function endedOperations(record: ReviewRecord, critique: Critique): Operation[] {
  return [
    put(reviewKey(record.id), record),
    put(critiqueKey(record.id), critique),
    ...reportsOf(record.id, critique.reports.length),
  ];
}

export function forgottenOperations({ id, selection }: ReviewRecord): Operation[] {
  return [
    del(reviewKey(id)),
    del(critiqueKey(id)),
    del(reviewedKey(id)),
    ...reportsOf(id, selection.modes.length),
  ];
}

function reportsOf(id: string, reports: number): Operation[] {
  return Array.from({ length: reports }, (_, at) => del(reportKey(id, at)));
}

/** Throws when it is damaged, or of a version that this one does not know. */
export function readRecord(bytes: Buffer): ReviewRecord {
  const record = JSON.parse(bytes.toString()) as ReviewRecord;
  if ((record.version as number) !== 1 || typeof record.id !== 'string')
    throw new Error(`a review of version ${String(record.version)}`);
  return record;
}
