import { cut, findingOf } from '../finding.js';
import { changeFindings } from '../impact/change-findings.js';
import { saidIn, type Said } from '../impact/claims.js';
import type { CodeView, Comment } from '../impact/code-view.js';
import { impactOf } from '../impact/gather.js';
import type { Gap } from '../impact/gap.js';
import type { Component, Impact } from '../impact/impact.js';
import { Quotes } from '../impact/quote.js';
import { listed } from '../impact/subject.js';
import { bullets, plural, withoutSubject } from '../impact/phrases.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import type { Finding, Severity } from '../shapes.js';

/** Words that stand in for a reason. */
const hedge =
  /\b(?:we assume|assumes?|assumed|assuming|assumption|in practice|obviously|trivially|should be (?:enough|fine|safe|sufficient)|good enough|negligible|hopefully)\b|^(?:clearly|of course)\b|\b(?:is|are|was|were) clearly\b/i;
const absolute =
  /\b(?:always|never|cannot|can't|guarantees?|guaranteed|impossible|under no circumstances)\b/i;
/** A figure of speed, size or share that somebody must have measured. */
const share =
  /(?<![\w.])\d+(?:[.,]\d+)?\s?(?:%|percent\b|x faster|times (?:faster|slower|smaller|larger)|(?:requests|messages|operations|queries) (?:per|a) second\b)/i;
/** What is better or worse by it: a share that is a setting, or a part of something, nobody measures. */
const comparing =
  /\b(?:faster|slower|less|fewer|more|higher|lower|smaller|larger|better|worse|reduc\w+|increas\w+|improv\w+|sav(?:es?|ed|ing)|cheaper|overhead|instead of|compared|speeds? up|cuts?|gains?|hits?|accura\w+|of (?:the time|all cases|cases|users)|per second|a second)\b/i;
/** What makes a claim more than a claim. */
const backing =
  /\]\([^)\s]|https?:\/\/|\b(?:measured|benchmark\w*|tested|proved|proof|because|since|see|as shown|according to|RFC ?\d+|CVE-\d+|section \d|table \d|figure \d)\b|\btests?\/|\.test\.\w+|\[\d+\]/i;
/** A bound or a threshold, not what came out. */
const setting =
  /\b(?:at (?:most|least)|(?:no|not) (?:more|less|fewer) than|(?:more|less|fewer|higher|lower|larger|smaller) than|up to|above|below|within|limit\w*|threshold\w*)\b/gi;
const decided =
  /\b(?:we (?:chose|choose|decided|picked|opted)|(?:was|is|were|are) (?:chosen|decided)|the decision (?:is|was))\b/i;
const decisionTitle = /^(?:\d+[.)]?\s*)?decisions?\b/i;
const alternatives =
  /\b(?:alternatives?|instead of|rather than|considered|rejected|options?|compared|versus|vs\.?|trade-?offs?|other than)\b/i;
const consequences =
  /\b(?:consequences?|costs?|price|downsides?|drawbacks?|therefore|because|hence|so that|means that|risks?|benefits?|why)\b/i;
const challengedMax = 60;
const quotedChars = 180;

interface Challenge {
  rule: string;
  severity: Severity;
  said: Pick<Said, 'text' | 'line_start' | 'line_end'>;
  why: string;
  remedy: string;
  /** Lines of code that speak against it. */
  places: { path: string; line: number; line_end?: number; symbol?: string }[];
  isDecision: boolean;
}

/** What was said, what of it is backed, and what not. */
interface Hearing {
  challenges: Challenge[];
  /** Backed by the artifact itself or by tests. */
  verified: string[];
  /** Absolute statements of which nobody can say by rules whether they are backed. */
  open: number;
}

/** S-002: the contrary of what it takes for granted, as far as facts speak for the contrary. */
export const devilsAdvocate: Mode = {
  name: 'devils-advocate',
  description:
    'assumptions and decisions that nothing backs, and code that takes things for granted',
  text: 'critic-devils-advocate',
  criteria: [
    { name: 'Challenge Depth', weight: 0.3 },
    { name: 'Alternative Generation', weight: 0.25 },
    { name: 'Specificity', weight: 0.25 },
    { name: 'Fairness', weight: 0.2 },
  ],
  sections: [
    { title: 'Challenged Assumptions', isRequired: true },
    { title: 'Challenged Decisions', isRequired: true },
    { title: 'Robustness Assessment', isRequired: true },
    { title: 'Critical Vulnerabilities', isRequired: true },
    { title: 'Recommended Actions', isRequired: true },
  ],
  examine,
};

async function examine(input: ModeInput): Promise<Examined> {
  const impact = await impactOf(input);
  const hearing = heard(input, impact);
  const challenges = hearing.challenges.slice(0, challengedMax);
  const findings: Finding[] = [];
  const unable = [
    ...impact.unable,
    ...(impact.isCode ? [] : withoutSubject(impact)),
    ...(hearing.open > 0
      ? [
          `to judge ${plural(hearing.open, 'absolute statement')} that name no code: a reader or a model has to`,
        ]
      : []),
    ...(challenges.length < hearing.challenges.length
      ? [`to list ${hearing.challenges.length - challenges.length} more challenges`]
      : []),
    'to think of alternatives that the artifact does not name: that needs a reader or a model',
  ];
  const examined = (): Examined => ({
    sections: sectionsOf(challenges, hearing, findings),
    ...{ findings, score: null, unable, abort: '', dropped: 0 },
  });
  findings.push(...(await changeFindings('devils-advocate', input)));
  const quotes = new Quotes(input.ground, input.artifact);
  for (const { rule, severity, said, why, remedy, places } of challenges) {
    if (input.signal.aborted) break;
    findings.push(
      findingOf('devils-advocate', {
        ...{ rule, severity, remedy, place: said, words: said.text, text: why },
        evidence: await quotes.all(places),
      }),
    );
    input.partial(examined());
  }
  return examined();
}

function heard({ artifact }: ModeInput, impact: Impact): Hearing {
  const said = saidIn(artifact, impact);
  const hearing: Hearing = { challenges: [], verified: [], open: 0 };
  if (impact.isCode) {
    const view = impact.files.find(({ path }) => path === artifact.path)?.view;
    if (view !== undefined) hearing.challenges.push(...ofCode(view, impact, artifact.path));
  } else {
    for (const [at, each] of said.entries()) hear(each, said[at + 1], hearing);
    hearing.challenges.push(...decisions(said, artifact.text.split('\n')));
  }
  for (const each of said) contradicted(each, hearing);
  hearing.challenges.sort((one, other) => one.said.line_start - other.said.line_start);
  return hearing;
}

function hear(said: Said, next: Said | undefined, hearing: Hearing): void {
  const { text, line_start, about } = said;
  const isHedged = hedge.test(text);
  const isFigure = share.test(text) && comparing.test(text.replace(setting, ''));
  if (!isHedged && !isFigure) return;
  const follows =
    next !== undefined && next.section.line_start === said.section.line_start ? next.text : '';
  const isTested = about.some(({ reach }) => (reach?.tests.length ?? 0) > 0);
  if (backing.test(text) || backing.test(follows) || isTested) {
    hearing.verified.push(`line ${line_start}: "${cut(text, quotedChars)}"`);
    return;
  }
  const [word = ''] = (isHedged ? hedge : share).exec(text) ?? [];
  hearing.challenges.push({
    ...{ said, places: [], isDecision: false, severity: 'minor' },
    rule: isHedged ? 'DA_ASSUMPTION' : 'DA_FIGURE_WITHOUT_SOURCE',
    why: isHedged
      ? `Takes for granted ("${word}"), and neither it nor the next sentence gives a reason, a figure, a link or a test: "${cut(text, quotedChars)}"`
      : `Gives the figure "${word}" without saying where it comes from: "${cut(text, quotedChars)}"`,
    remedy: isHedged
      ? 'Give the reason, or what happens when it is not so.'
      : 'Name the measurement, the test or the source.',
  });
}

/** An absolute word about code whose text shows the contrary may happen. */
function contradicted({ text, line_start, line_end, about }: Said, hearing: Hearing): void {
  if (!absolute.test(text)) return;
  if (about.length === 0) {
    hearing.open += 1;
    return;
  }
  const against = about.flatMap((component) =>
    component.gaps.filter(({ isExplained }) => !isExplained).map((gap) => ({ component, gap })),
  );
  const [first] = against;
  if (first === undefined || about.some(({ kind }) => kind === 'file')) {
    const tested = about.filter(({ reach }) => (reach?.tests.length ?? 0) > 0);
    if (tested.length > 0)
      hearing.verified.push(
        `line ${line_start}: of ${listed(
          tested.map(({ name }) => `\`${name}\``),
          3,
        )}, which tests call`,
      );
    return;
  }
  const { component, gap } = first;
  hearing.challenges.push({
    ...{
      rule: 'DA_ABSOLUTE',
      severity: 'minor',
      isDecision: false,
      said: { text, line_start, line_end },
    },
    why: `Says of \`${component.name}\` without exception: "${cut(text, quotedChars)}" Yet at ${component.path}:${gap.line_start} ${gap.what}; ${gap.then}.`,
    remedy: `Say what holds when that happens, or mend it: ${gap.remedy}`,
    places: [placeOfGap(component.path, gap, component)],
  });
}

function placeOfGap(path: string, gap: Gap, component?: Component): Challenge['places'][number] {
  return { path, line: gap.line_start, line_end: gap.line_end, symbol: component?.name ?? '' };
}

/** Of each section that decides something, whether it names what else there was and what follows. */
function decisions(said: readonly Said[], lines: readonly string[]): Challenge[] {
  const seen = new Set<number>();
  return said.flatMap((each): Challenge[] => {
    const { section, text } = each;
    if (seen.has(section.line_start)) return [];
    if (!decided.test(text) && !decisionTitle.test(section.title)) return [];
    seen.add(section.line_start);
    const whole = lines.slice(section.line_start - 1, section.line_end).join('\n');
    const missing = [
      ...(alternatives.test(whole) ? [] : ['what else was considered']),
      ...(consequences.test(whole) ? [] : ['what follows from it']),
    ];
    if (missing.length === 0) return [];
    return [
      {
        ...{ rule: 'DA_DECISION_UNWEIGHED', said: each, places: [], isDecision: true },
        severity: missing.length === 2 ? 'minor' : 'note',
        why: `Decides ("${cut(text, quotedChars)}"), and the section does not say ${missing.join(' nor ')}.`,
        remedy: `Say ${missing.join(' and ')}.`,
      },
    ];
  });
}

const supposed =
  /\b(?:should never|should not happen|shouldn't happen|cannot happen|can't happen|never happens?|can never|assum(?:e|es|ed|ing)|must already|impossible)\b/i;
const doubt = /(?<![\w`'"])(?:TODO|FIXME|XXX|HACK)(?![\w`'"])/;
const checking =
  /\b(?:assert\w*|throw|raise|BUG\w*|WARN\w*|if|return|panic|expect|invariant|ensure|lockdep_\w+|switch|unreachable)\b/i;
/** Code behind a remark that would check what it supposes. */
const checkedLines = 3;

function ofCode(view: CodeView, impact: Impact, path: string): Challenge[] {
  const gaps = impact.files.find((each) => each.path === path)?.gaps ?? [];
  const shown = gaps
    .filter(({ isExplained }) => !isExplained)
    .map((gap): Challenge => {
      const { line_start, line_end, what, then, remedy } = gap;
      const text = (view.lines[line_start - 1] ?? '').trim();
      return {
        ...{ rule: `DA_${gap.rule}`, severity: 'minor', remedy, isDecision: true },
        said: { text: `${gap.rule} ${text}`, line_start, line_end },
        why: `At line ${line_start} ${what}; ${then}.`,
        places: [placeOfGap(path, gap)],
      };
    });
  return [...shown, ...supposing(view, path), ...doubts(view, path), ...notNull(view, path)];
}

function supposing(view: CodeView, path: string): Challenge[] {
  return view.comments
    .filter(({ text }) => supposed.test(text))
    .filter(({ line_start, line_end }) => {
      const from = view.offsetOf(line_start);
      return !checking.test(view.code.slice(from, view.offsetOf(line_end + 1 + checkedLines)));
    })
    .map((comment): Challenge => {
      const [word = ''] = supposed.exec(comment.text) ?? [];
      return {
        ...{ rule: 'DA_UNCHECKED_ASSUMPTION', severity: 'minor', said: comment, isDecision: false },
        why: `A remark supposes something ("${word}"), and neither its line nor the ${checkedLines} behind it check it: "${cut(comment.text, quotedChars)}"`,
        remedy: 'Assert it there, or say who makes sure of it.',
        places: [placeOfComment(path, comment)],
      };
    });
}

function placeOfComment(
  path: string,
  { line_start, line_end }: Comment,
): Challenge['places'][number] {
  return { path, line: line_start, line_end };
}

/** From the mark on: what stands before it may be finished. */
function markedOf({ text }: Comment): string {
  return text.slice(Math.max(0, text.search(doubt)));
}

/** What its author himself calls unfinished; one finding for all of a file. */
function doubts(view: CodeView, path: string): Challenge[] {
  const all = view.comments.filter(({ text }) => doubt.test(text));
  const [first] = all;
  if (first === undefined) return [];
  return [
    {
      ...{ rule: 'DA_OWN_DOUBT', severity: 'note', said: first, isDecision: false },
      why: `Its author calls ${plural(all.length, 'place')} unfinished: ${listed(
        all.map((each) => `line ${each.line_start} "${cut(markedOf(each), 90)}"`),
        4,
      )}.`,
      remedy: 'Do it, or say why it can stay.',
      places: all.map((each) => placeOfComment(path, each)),
    },
  ];
}

const nonNull = /[\w$)\]]!(?=[.;,)\]])/g;
const nonNullMin = 3;

/** `!` behind a value in TypeScript: the compiler is told, nobody checks. */
function notNull(view: CodeView, path: string): Challenge[] {
  if (!/\.[mc]?tsx?$/.test(path)) return [];
  const lines = [
    ...new Set(Array.from(view.code.matchAll(nonNull), ({ index }) => view.lineOf(index))),
  ];
  const [first] = lines;
  if (first === undefined || lines.length < nonNullMin) return [];
  return [
    {
      ...{ rule: 'DA_NOT_NULL_ASSERTED', severity: 'note', isDecision: false },
      said: { text: `not null asserted ${lines.length}`, line_start: first, line_end: first },
      why: `Tells the compiler in ${lines.length} lines that a value is there, and checks it in none of them: ${listed(
        lines.map((line) => `line ${line}`),
        6,
      )}.`,
      remedy: 'Look at the value and say what happens when it is not there.',
      places: lines.map((line) => ({ path, line })),
    },
  ];
}

function sectionsOf(
  challenges: readonly Challenge[],
  { verified, open }: Hearing,
  findings: readonly Finding[],
): Examined['sections'] {
  const told = ({ said, why }: Challenge): string => `line ${said.line_start}: ${why}`;
  const grave = findings.filter(({ severity }) => severity === 'critical' || severity === 'major');
  return [
    {
      title: 'Challenged Assumptions',
      text: bullets(challenges.filter(({ isDecision }) => !isDecision).map(told)),
    },
    {
      title: 'Challenged Decisions',
      text: bullets(challenges.filter(({ isDecision }) => isDecision).map(told)),
    },
    {
      title: 'Robustness Assessment',
      text: `${plural(challenges.length, 'challenge')}, ${plural(verified.length, 'claim')} that the artifact or a test backs, ${open} that name no code.\n\nNot challenged, for they are backed:\n${bullets(verified.slice(0, 20))}`,
    },
    {
      title: 'Critical Vulnerabilities',
      text: bullets(
        grave.map(({ text }) => text),
        'None that the facts show.',
      ),
    },
    {
      title: 'Recommended Actions',
      text: bullets(
        [
          ...new Set(challenges.map(({ remedy, said }) => `line ${said.line_start}: ${remedy}`)),
        ].slice(0, 40),
      ),
    },
  ];
}
