import {
  claimLimits,
  countsOf,
  isName,
  notChecked,
  type Checked,
  type Claim,
  type PathName,
} from '../claims/claim.js';
import { extractClaims } from '../claims/extract.js';
import { Tree } from '../claims/tree.js';
import { verifyClaims } from '../claims/verify.js';
import { findingOf, sorted } from '../finding.js';
import { bullets, listed } from '../impact/phrases.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import { criticLimits, type Finding, type Section } from '../shapes.js';
import { examinedOf } from './looked.js';

const titles = [
  'Claim Inventory',
  'Verification Results',
  'Contradicted Claims',
  'Unverified Claims',
  'Verification Summary',
] as const;
/** Words beside a name that say something of it. */
const wordsMin = 2;
/** Names of what was not found. */
const toldMax = 8;
const saidMax = 3;
/** Claims between two partial reports. */
const partialEvery = 25;

/** S-011: looks up in the index and the tree what a document quotes of the code. */
export const chainOfVerification: Mode = {
  name: 'chain-of-verification',
  sections: titles,
  text: 'critic-chain-of-verification',
  examine,
};

async function examine(input: ModeInput): Promise<Examined> {
  const { artifact, ground, signal } = input;
  const { claims, read, isCut } = extractClaims(artifact.path, artifact.text);
  const sentences = sentencesBeyond(claims);
  const unable =
    sentences === 0
      ? []
      : [
          `to look up what ${sentences} ${sentences === 1 ? 'sentence says' : 'sentences say'} of the code beyond the names in ${sentences === 1 ? 'it' : 'them'}: a reader or a model has to`,
        ];
  if (claims.length === 0)
    unable.push('to look up anything: the artifact names no code and no file');
  if (isCut) unable.push(`to look up more than the first ${claimLimits.claims} claims`);
  if (ground === undefined) {
    unable.push('to look up anything: there is no index of the tree');
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

/** Sentences of which only the names were looked up, though they say something of them. */
function sentencesBeyond(claims: readonly Claim[]): number {
  const looked = new Set(claims.filter((each) => !isName(each)).map(({ text }) => text));
  const texts = new Set(claims.map(({ text }) => text));
  return [...texts].filter((text) => !looked.has(text) && wordsBeside(text) >= wordsMin).length;
}

/** Beside what is quoted. */
function wordsBeside(sentence: string): number {
  return sentence.replace(/`[^`]*`/g, ' ').match(/\p{L}{2,}/gu)?.length ?? 0;
}

function withoutIndex(claim: Claim): Checked {
  return { claim, ...notChecked('There is no index to ask.') };
}

function examined(claims: readonly Claim[], found: readonly Checked[], unable: string[]): Examined {
  const wrong = found.filter(({ status }) => status === 'wrong');
  const findings = findingsOf(wrong);
  const isHard = findings.some((each) => each.is_hard);
  return examinedOf({
    ...{ sections: sectionsOf(claims, found), findings, claims: countsOf(found) },
    unable: [...notFoundIn(found), ...unable],
    abort: isHard ? 'HARD_RULE_CONTRADICTED' : '',
    ...(isBlind(found) && { gap: 'NOTHING_LOOKED_AT' as const }),
  });
}

/** What it names and the tree lacks: not wrong, and not checked either. */
function notFoundIn(found: readonly Checked[]): string[] {
  const named = new Map<string, string>();
  const said: string[] = [];
  for (const { claim, status, reason } of found) {
    if (status !== 'not found') continue;
    const subject = plain(subjectOf(claim));
    const where = `${subject} (line ${claim.line_start})`;
    if (!named.has(subject) && /^(?:symbol|path|option|command)$/.test(claim.statement.kind))
      named.set(subject, where);
    else if (!named.has(subject)) said.push(`${where}: ${plain(reason)}`);
  }
  return [
    ...(named.size > 0
      ? [
          `to find in the code: ${listed([...named.values()], toldMax)}; it may be gone, planned, or of another program`,
        ]
      : []),
    ...(said.length > 0 ? [`to decide ${listed(said, saidMax)}`] : []),
  ];
}

/** Nothing of it was looked up. */
function isBlind(found: readonly Checked[]): boolean {
  return found.every(({ status }) => status === 'not checked');
}

/** One per place and remedy. */
function findingsOf(wrong: readonly Checked[]): Finding[] {
  const byPlace = new Map<string, Finding>();
  for (const { claim, reason, remedy, evidence } of wrong) {
    const { text, statement, line_start, line_end, is_hard } = claim;
    const key = `${line_start} ${reason} ${remedy}`;
    if (byPlace.has(key)) continue;
    const finding = findingOf('chain-of-verification', {
      ...{ rule: 'CLAIM_CONTRADICTED', severity: is_hard ? 'critical' : 'major', isHard: is_hard },
      ...{ text: `"${text}" – ${reason}`, remedy, evidence, place: { line_start, line_end } },
      // The same for the same words, wherever they stand in another version.
      words: JSON.stringify([text, statement]),
    });
    byPlace.set(key, finding);
  }
  return sorted([...byPlace.values()]).slice(0, criticLimits.findings);
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
  const head = `${claims.length} claims can be looked up${counts === '' ? '' : `: ${counts}`}.`;
  return [head, '', ...lines].join('\n');
}

/** What a claim is about, in a few words. */
function subjectOf({ statement }: Claim): string {
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
  return bullets(
    found.map(
      (each) =>
        `line ${each.claim.line_start}: ${plain(subjectOf(each.claim))} | ${plain(tell(each))}`,
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
  const named = found.filter(({ status, claim }) => status === 'holds' && isName(claim)).length;
  const names = named === 0 ? '' : ` ${named} of those that hold say only that a name exists.`;
  const text = `${claims.length} claims: ${held} hold, ${failed} wrong, ${count('not found')} not found, ${count('not checked')} not checked; ${share}.${names}`;
  return open === 0 ? text : `${text} Time ran out for ${open}.`;
}

/** In one line: words of the artifact start no new one. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, criticLimits.findingChars);
}
