import { readResponse } from '../../src/delegation/task/response.js';
import { readTask } from '../../src/delegation/task/schema.js';
import type { CitationVerdict } from '../../src/delegation/manager/review.js';
import type {
  DelegatedTask,
  EvidenceCitation,
  GroundingEvidence,
  TaskResponse,
} from '../../src/delegation/task/shapes.js';

/** A task document with defaults. */
export function taskOf(fields: Record<string, unknown> = {}): DelegatedTask {
  return readTask({ task: 'say how a packet leaves', ...fields }, 't-1');
}

/** A citation with every field. */
export function citationOf(fields: Partial<EvidenceCitation> = {}): EvidenceCitation {
  return {
    overlay: 'O1',
    content: 'int dev_queue_xmit(struct sk_buff *skb)',
    relevance: 'sends it',
    file_path: 'net/core/dev.c',
    line_start: 10,
    line_end: 12,
    symbol: 'dev_queue_xmit',
    blob: 'b10b',
    agent: 'net',
    similarity: 0.9,
    ...fields,
  };
}

/** Citations with these similarities, each of another line. */
export function citationsOf(similarities: readonly number[]): EvidenceCitation[] {
  return similarities.map((similarity, at) =>
    citationOf({ similarity, line_start: at + 1, line_end: at + 1 }),
  );
}

export function evidenceOf(fields: Partial<GroundingEvidence> = {}): GroundingEvidence {
  return {
    queries_executed: ['dev_queue_xmit'],
    overlays_consulted: ['O1'],
    citations: [citationOf()],
    grounding_confidence: 'low',
    overlay_warnings: [],
    ...fields,
  };
}

/** The answer of a worker that completed its task. */
export function responseOf(fields: Record<string, unknown> = {}): TaskResponse {
  return readResponse({
    task_id: 't-1',
    status: 'completed',
    result: 'through dev_queue_xmit',
    grounding_evidence: evidenceOf(),
    protocol_version: '2.0',
    attempt: 1,
    ...fields,
  });
}

export function verdictOf(
  status: CitationVerdict['status'],
  reason = '',
  now_at = '',
): CitationVerdict {
  return { status, reason, now_at };
}

/** One for each citation. */
export function allValid({ grounding_evidence }: TaskResponse): CitationVerdict[] {
  return (grounding_evidence?.citations ?? []).map(() => verdictOf('valid'));
}
