import { confidenceOf, meanOf } from '../../base/confidence.js';
import { checkCriteria } from './criteria.js';
import type { CitationVerdict, Finding, Nearness, Review, SaidWords } from './review.js';
import {
  errorOverlay,
  evidenceLimits,
  isEvidenceRequired,
  protocolVersion,
  type ConfidenceLevel,
  type DelegatedTask,
  type GroundingEvidence,
  type TaskResponse,
} from '../task/shapes.js';

/** A finding quotes untrusted text, is stored, and goes to the next worker as feedback. */
const findingCharsMax = 600;
const order: readonly ConfidenceLevel[] = ['low', 'medium', 'high'];

/**
 * Reviews a response. `verdicts`: those of its citations, in their order. `near`: what the PGC says of its evidence, where it was asked; else the similarity of the citations counts. `words`: what is known of what it says, where that was looked at. A finding of severity error refuses it. With warnings a critical task (C3, C4) is undecided and a person decides; any other is accepted with warnings. Low confidence is a warning.
 */
export function reviewResponse(
  task: DelegatedTask,
  response: TaskResponse,
  worker: string,
  verdicts: readonly CitationVerdict[],
  { near, words }: { near?: Nearness | undefined; words?: SaidWords } = {},
): Review {
  const valid = similaritiesOf(response, verdicts);
  const isWhole = verdicts.every(({ status }) => status === 'valid');
  const shown = confidenceOf(valid);
  const confidence = (isWhole ? near?.answered : undefined) ?? shown;
  const similarity = meanOf(valid);
  const criteria = checkCriteria(task.acceptance_criteria, response, verdicts);
  const isCritical = task.criticality === 'C3' || task.criticality === 'C4';
  const unchecked = criteria.filter(({ verdict }) => verdict === 'unchecked').length;
  const findings: Finding[] = [
    ...resultFindings(response),
    ...incompleteFindings(response),
    ...evidenceFindings(task, response, verdicts, {
      ...{ confidence, claimable: near?.claimable ?? shown },
    }),
    ...(words?.contradicted ?? []).map((each) => error('CLAIM_CONTRADICTED', each)),
    ...criteria.flatMap(({ text, verdict, why }) =>
      verdict === 'unmet' ? [error('CRITERION_UNMET', `"${text}": ${why}`)] : [],
    ),
    ...(unchecked > 0
      ? [warning('CRITERIA_UNCHECKED', `${unchecked} of ${criteria.length} criteria need a reader`)]
      : []),
  ];
  const isRefused = findings.some(({ severity }) => severity === 'error');
  // A refused result needs no further mark.
  if (words?.areOwn === true && !isRefused) findings.push(wordsUnchecked(response));
  const isDoubtful = findings.some(({ severity }) => severity === 'warning');
  const verdict = isRefused
    ? 'refused'
    : !isDoubtful
      ? 'accepted'
      : isCritical
        ? 'undecided'
        : 'warned';
  const citations = [...verdicts];
  const { attempt } = response;
  return { attempt, worker, verdict, findings, criteria, citations, confidence, similarity };
}

/** The reason of a verdict as one code; a worker without the protocol is PROTOCOL_MISMATCH. */
export function reasonOf({ findings, verdict }: Pick<Review, 'findings' | 'verdict'>): string {
  if (verdict === 'accepted') return '';
  if (verdict !== 'refused') return findings[0]?.code ?? '';
  const errors = findings.filter(({ severity }) => severity === 'error');
  const mismatch = errors.some(({ code }) => code === 'PROTOCOL_MISMATCH');
  return mismatch ? 'PROTOCOL_MISMATCH' : 'EVIDENCE_REFUSED';
}

function resultFindings({ result }: TaskResponse): Finding[] {
  return result.trim() === '' ? [error('RESULT_EMPTY', 'there is no result')] : [];
}

/**
 * What it could not do of its task, and says so: an analysis of something unknown, an expression that cannot be read. What its
 * executor saw itself of a change, and speaks against it, refuses it.
 */
function incompleteFindings({ status, errors }: TaskResponse): Finding[] {
  if (status !== 'completed') return [];
  // That the PGC holds nothing of one query among others is an answer.
  const failed = errors.filter(({ code }) => code !== 'NOT_FOUND');
  return failed.map(({ code, text }) =>
    code === 'CHANGE_DOUBTED' ? error(code, text) : warning('WORK_INCOMPLETE', `${code}: ${text}`),
  );
}

/** It says so itself: nothing shows that what it cites says the same. */
function wordsUnchecked({ grounding_evidence }: TaskResponse): Finding {
  const text =
    (grounding_evidence?.citations.length ?? 0) > 0
      ? 'whether the cited lines show what it says, only a reader can tell'
      : 'it cites nothing: what it says was not checked';
  return warning('WORDS_UNCHECKED', text);
}

function evidenceFindings(
  task: DelegatedTask,
  response: TaskResponse,
  verdicts: readonly CitationVerdict[],
  { confidence, claimable }: { confidence: ConfidenceLevel; claimable: ConfidenceLevel },
): Finding[] {
  const { grounding } = task;
  const evidence = response.grounding_evidence;
  const isRequired = isEvidenceRequired(grounding);
  if (evidence === null) {
    if (!isRequired) return [];
    const isLegacy = response.protocol_version !== protocolVersion;
    return isLegacy
      ? [
          error(
            'PROTOCOL_MISMATCH',
            `it gives no evidence; it speaks the earlier protocol (${response.protocol_version || 'without a version'})`,
          ),
        ]
      : [error('EVIDENCE_MISSING', 'evidence was required, and there is none')];
  }
  const findings = limitFindings(evidence);
  const counted = evidence.citations.filter(({ overlay }) => overlay !== errorOverlay);
  if (isRequired && counted.length === 0)
    findings.push(error('CITATIONS_MISSING', 'evidence was required, and nothing is cited'));
  findings.push(...citationFindings(evidence, verdicts));
  const valid = similaritiesOf(response, verdicts).length;
  if (isRequired && counted.length > 0 && valid === 0)
    findings.push(error('NOTHING_VERIFIED', 'no citation could be verified'));
  if (grounding !== null && grounding.strategy !== 'none') {
    findings.push(...overlayFindings(grounding.overlay_hints, evidence));
    if (grounding.query_hints.length > 0 && evidence.queries_executed.length === 0)
      findings.push(error('QUERIES_NOT_EXECUTED', 'queries were hinted, and none was executed'));
  }
  const claimed = evidence.grounding_confidence;
  // A worker claims by what it cites: it does not know how sure the answer is.
  if (order.indexOf(claimed) > order.indexOf(claimable)) {
    const text = `it claims ${claimed} confidence; its evidence allows ${claimable}, which counts`;
    findings.push(warning('CONFIDENCE_INFLATED', text));
  }
  if (isRequired && confidence === 'low') {
    const isThere = valid > 0;
    const text = 'the evidence has little to do with the question';
    findings.push(warning('CONFIDENCE_LOW', isThere ? text : 'no evidence holds'));
  }
  return findings;
}

function limitFindings({ citations }: GroundingEvidence): Finding[] {
  const { citations: countMax, contentChars } = evidenceLimits;
  const findings: Finding[] = [];
  if (citations.length > countMax)
    findings.push(
      error('CITATIONS_TOO_MANY', `${citations.length} citations, at most ${countMax}`),
    );
  citations.forEach(({ content }, at) => {
    if (content.length > contentChars) {
      const text = `citation ${at + 1} has ${content.length} characters, at most ${contentChars}`;
      findings.push(error('CITATION_TOO_LONG', text));
    }
  });
  return findings;
}

function citationFindings(
  { citations }: GroundingEvidence,
  verdicts: readonly CitationVerdict[],
): Finding[] {
  return citations.flatMap((citation, at): Finding[] => {
    if (citation.overlay === errorOverlay)
      return [warning('CITATION_IS_ERROR', `citation ${at + 1} is an error: ${citation.content}`)];
    // Named as too long.
    if (citation.content.length > evidenceLimits.contentChars) return [];
    const { status, reason, now_at } = verdicts[at] ?? unverified;
    const line = citation.line_start === 0 ? '' : `:${citation.line_start}`;
    const where = `citation ${at + 1} (${citation.file_path || 'no file'}${line})`;
    const now = now_at === '' ? '' : `; it stands at ${now_at}`;
    if (status === 'false') return [error('CITATION_FALSE', `${where}: ${reason}${now}`)];
    if (status === 'stale') return [warning('CITATION_STALE', `${where}: ${reason}${now}`)];
    return status === 'valid' ? [] : [warning('CITATION_UNVERIFIED', `${where}: ${reason}`)];
  });
}

const unverified: CitationVerdict = {
  status: 'unverified',
  reason: 'it was not checked',
  now_at: '',
};

/**
 * A hinted overlay that was not consulted is a warning if the response says why, else an error. If all were consulted, at least one should be cited.
 */
function overlayFindings(hints: readonly string[], evidence: GroundingEvidence): Finding[] {
  const { overlays_consulted, overlay_warnings, citations } = evidence;
  const consulted = new Set<string>(overlays_consulted);
  const findings = [...new Set(hints)].flatMap((hint): Finding[] => {
    if (consulted.has(hint)) return [];
    const word = overlay_warnings.find((each) => names(each, hint));
    return word === undefined
      ? [error('OVERLAY_NOT_CONSULTED', `${hint} was hinted, and not consulted`)]
      : [warning('OVERLAY_PARTIAL', word)];
  });
  const cited = citations.map(({ overlay }) => overlay).filter((each) => each !== errorOverlay);
  const isCited = cited.some((each) => hints.some((hint) => names(each, hint)));
  if (findings.length > 0 || hints.length === 0 || cited.length === 0 || isCited) return findings;
  return [warning('OVERLAY_NOT_CITED', `${hints.join(', ')} hinted, and none of them cited`)];
}

/** As a whole word: `O1` is not in `O12`. */
function names(text: string, overlay: string): boolean {
  return text.split(/\W+/).includes(overlay);
}

/** Similarities of the valid citations; one without similarity counts as 0. */
function similaritiesOf(response: TaskResponse, verdicts: readonly CitationVerdict[]): number[] {
  const citations = response.grounding_evidence?.citations ?? [];
  return citations.flatMap(({ similarity, overlay }, at) =>
    overlay !== errorOverlay && verdicts[at]?.status === 'valid' ? [bounded(similarity ?? 0)] : [],
  );
}

function bounded(similarity: number): number {
  return Number.isFinite(similarity) ? Math.min(1, Math.max(0, similarity)) : 0;
}

function error(code: string, text: string): Finding {
  return { code, severity: 'error', text: text.slice(0, findingCharsMax) };
}

function warning(code: string, text: string): Finding {
  return { code, severity: 'warning', text: text.slice(0, findingCharsMax) };
}
