import { createHash } from 'node:crypto';
import {
  claimLimits,
  countsOf,
  notChecked,
  type Checked,
  type Claim,
  type PathName,
} from '../claims/claim.js';
import { extractClaims } from '../claims/extract.js';
import { Tree } from '../claims/tree.js';
import { verifyClaims } from '../claims/verify.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import { criticLimits, type Finding, type Section } from '../shapes.js';

const titles = [
  'Claim Inventory',
  'Verification Results',
  'Contradicted Claims',
  'Unverified Claims',
  'Verification Summary',
] as const;
/** Claims between two partial reports. */
const partialEvery = 25;

/** S-011: looks up in the index and the tree whatever a document quotes of the code. */
export const chainOfVerification: Mode = {
  name: 'chain-of-verification',
  sections: titles,
  text: 'critic-chain-of-verification',
  examine,
};

async function examine(input: ModeInput): Promise<Examined> {
  const { artifact, ground, signal } = input;
  const { claims, read, isCut } = extractClaims(artifact.path, artifact.text);
  const unable = [
    'What the prose says of the code, beyond what it quotes, is not judged without a model.',
  ];
  if (isCut) unable.push(`Only the first ${claimLimits.claims} claims were looked up.`);
  if (ground === undefined) {
    unable.push('Without an index nothing could be looked up.');
    return examined(claims, claims.map(withoutIndex), unable);
  }
  const tree = await Tree.open(ground, artifact.path, signal);
  const found: Checked[] = [];
  await verifyClaims(claims, read, tree, (each) => {
    found.push(each);
    if (found.length % partialEvery === 0) input.partial(examined(claims, found, unable));
  });
  return examined(claims, found, unable);
}

function withoutIndex(claim: Claim): Checked {
  return { claim, ...notChecked('There is no index to ask.') };
}

function examined(claims: readonly Claim[], found: readonly Checked[], unable: string[]): Examined {
  const wrong = found.filter(({ status }) => status === 'wrong');
  const findings = findingsOf(wrong);
  const isHard = findings.some((each) => each.is_hard);
  return {
    sections: sectionsOf(claims, found),
    findings,
    score: null,
    claims: countsOf(found),
    unable,
    abort: isHard ? 'HARD_RULE_CONTRADICTED' : '',
    dropped: 0,
  };
}

/** One per place and remedy; the worst are kept. */
function findingsOf(wrong: readonly Checked[]): Finding[] {
  const byPlace = new Map<string, Finding>();
  for (const each of wrong) {
    const finding = findingOf(each);
    const key = `${finding.line_start} ${each.reason} ${each.remedy}`;
    if (!byPlace.has(key)) byPlace.set(key, finding);
  }
  const all = [...byPlace.values()];
  return all
    .sort(
      (one, other) =>
        Number(other.is_hard) - Number(one.is_hard) || one.line_start - other.line_start,
    )
    .slice(0, criticLimits.findings);
}

function findingOf({ claim, reason, remedy, evidence }: Checked): Finding {
  const text = `"${claim.text}" – ${reason}`.slice(0, criticLimits.findingChars);
  return {
    id: idOf(claim),
    mode: 'chain-of-verification',
    by: 'rules',
    rule: 'CLAIM_CONTRADICTED',
    severity: claim.is_hard ? 'critical' : 'major',
    is_hard: claim.is_hard,
    text,
    line_start: claim.line_start,
    line_end: claim.line_end,
    remedy: remedy.slice(0, criticLimits.findingChars),
    evidence: evidence.slice(0, criticLimits.evidence),
  };
}

/** The same for the same words, wherever they stand in another version. */
function idOf({ text, statement }: Claim): string {
  const said = JSON.stringify([text, statement]);
  return `CV-${createHash('sha256').update(said).digest('hex').slice(0, 12)}`;
}

function sectionsOf(claims: readonly Claim[], found: readonly Checked[]): Section[] {
  const isOpen = ({ status }: Checked): boolean =>
    status === 'not found' || status === 'not checked';
  const texts: Record<(typeof titles)[number], string> = {
    'Claim Inventory': inventory(claims),
    'Verification Results': rows(
      found,
      (each) => `${each.status} (${each.confidence}) | ${each.reason} | ${placesOf(each)}`,
    ),
    'Contradicted Claims': rows(
      found.filter(({ status }) => status === 'wrong'),
      (each) => `${each.reason} | ${each.remedy} | ${placesOf(each)}`,
    ),
    'Unverified Claims': rows(found.filter(isOpen), (each) => `${each.status} | ${each.reason}`),
    'Verification Summary': summary(claims, found),
  };
  return titles.map((title) => ({ title, text: texts[title] }));
}

function inventory(claims: readonly Claim[]): string {
  const kinds = new Map<string, number>();
  for (const { statement } of claims)
    kinds.set(statement.kind, (kinds.get(statement.kind) ?? 0) + 1);
  const told = [...kinds].sort(([one], [other]) => (one < other ? -1 : 1));
  const counts = told.map(([kind, count]) => `${count} ${kind}`).join(', ');
  const lines = claims.map(
    (each) => `- line ${each.line_start}, ${each.statement.kind}: ${plain(subjectOf(each))}`,
  );
  return fitted([
    `${claims.length} claims can be looked up${counts === '' ? '' : `: ${counts}`}.`,
    '',
    ...lines,
  ]);
}

/** What a claim is about, in a few words. */
export function subjectOf({ statement }: Claim): string {
  const told = Object.entries(statement).flatMap(([key, part]: [string, unknown]): string[] => {
    if (key === 'kind' || part === '') return [];
    if (typeof part === 'string') return [part];
    if (typeof part !== 'object' || part === null) return [];
    if ('path' in part) return [pathOf(part as PathName)];
    if ('value' in part) return [String(part.value)];
    return 'name' in part && 'container' in part
      ? [[part.container, part.name].filter((each) => each !== '').join('.')]
      : [];
  });
  return told.join(' · ');
}

function pathOf({ path, line_start, anchor }: PathName): string {
  return `${path}${line_start > 0 ? `:${line_start}` : ''}${anchor === '' ? '' : `#${anchor}`}`;
}

function rows(found: readonly Checked[], tell: (each: Checked) => string): string {
  if (found.length === 0) return 'None.';
  return fitted(
    found.map(
      (each) =>
        `- line ${each.claim.line_start}: ${plain(subjectOf(each.claim))} | ${plain(tell(each))}`,
    ),
  );
}

function placesOf({ evidence }: Checked): string {
  return evidence.map((each) => `${each.file_path}:${each.line_start}`).join(', ');
}

function summary(claims: readonly Claim[], found: readonly Checked[]): string {
  const count = (status: Checked['status']): number =>
    found.filter((each) => each.status === status).length;
  const [held, failed] = [count('holds'), count('wrong')];
  const decided = held + failed;
  const share =
    decided === 0
      ? 'nothing could be decided'
      : `${((100 * held) / decided).toFixed(1)} % of ${decided} decided claims hold`;
  const open = claims.length - found.length;
  const text = `${claims.length} claims: ${held} hold, ${failed} wrong, ${count('not found')} not found, ${count('not checked')} not checked; ${share}.`;
  return open === 0 ? text : `${text} Time ran out for ${open}.`;
}

/** In one line: words of the artifact start no new one. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, criticLimits.findingChars);
}

/** Whole lines, as many as a section holds; the rest is counted. */
function fitted(lines: readonly string[]): string {
  const kept: string[] = [];
  let chars = 0;
  for (const line of lines) {
    chars += line.length + 1;
    if (chars > criticLimits.sectionChars - 40)
      return [...kept, `- and ${lines.length - kept.length} more`].join('\n');
    kept.push(line);
  }
  return kept.join('\n');
}
