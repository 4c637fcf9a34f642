import { findingOf } from '../finding.js';
import { changeFindings } from '../impact/change-findings.js';
import { impactOf } from '../impact/gather.js';
import { isUntested, type Component, type FileFacts, type Impact } from '../impact/impact.js';
import { placed, Quotes } from '../impact/quote.js';
import { refusalsIn } from '../impact/refusals.js';
import {
  bullets,
  gravityOf,
  placeIn,
  placeOf,
  plural,
  table,
  usersOf,
  withoutSubject,
} from '../impact/phrases.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import { severities, type Finding, type Severity } from '../shapes.js';

const narrativesMax = 5;
/** With fewer users a function without a test is no story of its own. */
const hubUsers = 10;
/** Changed together in so many commits: whoever changes one alone forgets the other. */
const togetherMin = 5;
const togetherShare = 0.5;
/** More lookers than this for each that does not look. */
const usualTimes = 4;

interface Place {
  path: string;
  line: number;
  line_end?: number;
}

/** A failure that has happened, told from the facts alone. */
interface Story {
  rule: string;
  severity: Severity;
  /** Likely and grave, as words of the risk matrix. */
  likely: 'low' | 'medium' | 'high';
  title: string;
  happened: string;
  cause: string;
  prevent: string;
  place: Place;
  evidence: Place[];
  component?: Component;
}

/** S-004: it has failed; how it came to that, as far as facts tell it. */
export const preMortem: Mode = {
  name: 'pre-mortem',
  description: 'failures told from their end, made only of what the code shows',
  text: 'critic-pre-mortem',
  criteria: [
    { name: 'Failure Scenario Plausibility', weight: 0.3 },
    { name: 'Root Cause Tracing', weight: 0.25 },
    { name: 'Preventive Measure Quality', weight: 0.25 },
    { name: 'Bias Coverage', weight: 0.2 },
  ],
  sections: [
    { title: 'Failure Narratives', isRequired: true },
    { title: 'Root Cause Analysis', isRequired: true },
    { title: 'Warning Signs', isRequired: true },
    { title: 'Risk Matrix', isRequired: true },
    { title: 'Preventive Measures', isRequired: true },
  ],
  examine,
};

async function examine(input: ModeInput): Promise<Examined> {
  const impact = await impactOf(input);
  const forgotten = await forgottenStories(impact, input);
  const stories = storiesOf(impact, forgotten).slice(0, narrativesMax);
  const signs = signsOf(impact);
  const findings: Finding[] = [];
  const unable = [
    ...impact.unable,
    ...withoutSubject(impact),
    ...(stories.length < 3 ? [`to tell three failures: the facts give ${stories.length}`] : []),
    'to tell failures of people, plans and organisation: that needs a reader or a model',
  ];
  const examined = (): Examined => ({
    sections: sectionsOf(stories, signs),
    ...{ findings, score: null, unable, abort: '', dropped: 0 },
  });
  findings.push(...(await changeFindings('pre-mortem', input)));
  const quotes = new Quotes(input.ground, input.artifact);
  for (const story of stories) {
    if (input.signal.aborted) break;
    const { rule, severity, title, happened, cause, prevent, place, component } = story;
    findings.push(
      findingOf('pre-mortem', {
        ...{ rule, severity, remedy: prevent, words: title },
        text: `${title} ${cause} ${happened}`,
        place:
          component === undefined || place.path === input.artifact.path
            ? placeIn(place.path, place.line, input.artifact, impact)
            : placeOf(component, input.artifact, impact),
        evidence: await quotes.all(story.evidence),
      }),
    );
    input.partial(examined());
  }
  return examined();
}

/** Worst first, then in the order of the code; one of each kind and function. */
function storiesOf(impact: Impact, forgotten: readonly Story[]): Story[] {
  const all = [
    ...impact.components.flatMap((each) => [
      ...gapStories(each),
      ...ignoredStory(each),
      ...hubStory(each, impact),
    ]),
    ...impact.files.flatMap(threatStories),
    ...forgotten,
    ...(impact.components.length === 0 ? impact.files.flatMap(looseGaps) : []),
  ];
  const seen = new Set<string>();
  // One is enough to say that nothing tests this code: the one that most use.
  const usersOfIt = ({ component }: Story): number => component?.reach?.consumers ?? 0;
  const hubs = all.filter(({ rule }) => rule === 'PM_HUB_UNTESTED');
  const widest = hubs.reduce<Story | undefined>(
    (most, each) => (most === undefined || usersOfIt(each) > usersOfIt(most) ? each : most),
    undefined,
  );
  return all
    .filter((each) => each.rule !== 'PM_HUB_UNTESTED' || each === widest)
    .filter(({ title }) => !seen.has(title) && seen.add(title))
    .sort((one, other) => rank(one) - rank(other));
}

function rank({ severity, likely }: Story): number {
  return severities.indexOf(severity) * 3 + ['high', 'medium', 'low'].indexOf(likely);
}

/** Whoever is hit, in a sentence; nothing where nobody is known. */
function hit(component: Component): string {
  const { reach } = component;
  if (reach === undefined || reach.consumers === 0) return '';
  const [opening] = reach.openings;
  const outside = opening === undefined ? '' : ` It is reached from outside: ${opening.reason}.`;
  return `It hit ${usersOf(reach)}.${outside}`;
}

function callersOf({ reach }: Component): Place[] {
  return (reach?.callers ?? []).slice(0, 2).flatMap(({ call_site }) => {
    const [, path, line] = /^(.+):(\d+)$/.exec(call_site) ?? [];
    return path === undefined ? [] : [{ path, line: Number(line) }];
  });
}

/** What stops or breaks the program itself; the others only hide that something failed. */
const grave: ReadonlySet<string> = new Set(['LOOP_WITHOUT_END', 'MEMORY_UNCHECKED']);

function gapStories(component: Component): Story[] {
  const { name, path, gaps, reach } = component;
  const isWide = (reach?.consumers ?? 0) > 20 || (reach?.openings.length ?? 0) > 0;
  return gaps
    .filter(({ isExplained }) => !isExplained)
    .map((gap): Story => {
      const place = { path, line: gap.line_start, line_end: gap.line_end };
      return {
        ...{ rule: `PM_${gap.rule}`, likely: 'medium', place, component },
        severity: grave.has(gap.rule) && isWide ? 'major' : 'minor',
        title: `\`${name}\` failed and it was noticed late.`,
        cause: `At ${path}:${gap.line_start} ${gap.what}; ${gap.then}.`,
        happened: hit(component),
        prevent: gap.remedy,
        evidence: [place, ...callersOf(component)],
      };
    });
}

/** Without an index nobody knows whose function it is. */
function looseGaps({ path, gaps }: FileFacts): Story[] {
  return gaps
    .filter(({ isExplained }) => !isExplained)
    .map((gap): Story => {
      const place = { path, line: gap.line_start, line_end: gap.line_end };
      return {
        ...{
          rule: `PM_${gap.rule}`,
          severity: 'minor',
          likely: 'medium',
          place,
          evidence: [place],
        },
        title: `Line ${gap.line_start} failed and it was noticed late.`,
        cause: `There ${gap.what}; ${gap.then}.`,
        ...{ happened: '', prevent: gap.remedy },
      };
    });
}

/** D. Engler et al., "Bugs as Deviant Behavior" (SOSP 2001): what most do and a few do not is a fault or deserves a word. */
function ignoredStory(component: Component): Story[] {
  const { name, path, line, ignoring, using, givesErrors } = component;
  if (!givesErrors || ignoring.length === 0 || using < ignoring.length * usualTimes) return [];
  const sites = ignoring.map(({ file_path, line: at }) => ({ path: file_path, line: at }));
  const [first] = sites;
  return [
    {
      ...{ rule: 'PM_RESULT_IGNORED', severity: 'minor', likely: 'medium', component },
      title: `\`${name}\` said that it had failed and somebody went on.`,
      cause: `It can return an error; ${plural(using, 'call')} look at what it gives, ${ignoring.length} do not: ${sites
        .slice(0, 3)
        .map((each) => `${each.path}:${each.line}`)
        .join(', ')}.`,
      happened: hit(component),
      prevent: `Look at what \`${name}\` gives in ${first?.path ?? path}:${first?.line ?? line}, or say there why it does not matter.`,
      place: { path, line },
      evidence: [...sites.slice(0, 4), { path, line }],
    },
  ];
}

/** None was found, whatever may hide one. */
function hasNoTest({ reach }: Component): boolean {
  return reach !== undefined && reach.tests.length + reach.alike.tests.length === 0;
}

function hubStory(component: Component, impact: Impact): Story[] {
  const { name, path, line, reach } = component;
  if (reach === undefined || !isUntested(component, impact) || reach.consumers < hubUsers)
    return [];
  const all = impact.components.filter(({ kind }) => kind !== 'file');
  const isNone = all.length > 1 && all.every(hasNoTest);
  return [
    {
      ...{ rule: 'PM_HUB_UNTESTED', severity: 'minor', likely: 'medium', component },
      title: `A change of \`${name}\` broke what uses it.`,
      cause: isNone
        ? `No test was found that calls any of the ${all.length} functions that were looked at, directly or through others; this is the one that most use.`
        : 'No test was found that calls it, directly or through others.',
      happened: hit(component),
      prevent: `Write a test that calls \`${name}\` as ${reach.callers[0]?.symbol ?? 'its users'} does.`,
      place: { path, line },
      evidence: [{ path, line }, ...callersOf(component)],
    },
  ];
}

function threatStories(file: FileFacts): Story[] {
  return file.threats
    .filter((each) => ['critical', 'major'].includes(gravityOf(each, file)))
    .map((threat): Story => {
      const [way] = file.exposures;
      const place = { path: file.path, line: threat.line };
      const name = threat.symbol.split('#')[1] ?? threat.symbol;
      return {
        ...{ rule: 'PM_WEAKNESS_USED', severity: gravityOf(threat, file), likely: 'medium', place },
        title: `Somebody from outside used \`${name}\`.`,
        cause: `At ${file.path}:${threat.line}: ${threat.description} (${threat.cwe}).`,
        happened: way === undefined ? '' : `The way in: ${way.surface} (${way.place}).`,
        prevent: `Check what reaches ${file.path}:${threat.line} before it is used there.`,
        evidence: [place],
      };
    });
}

/**
 * Files that change together though neither names the other, and of which the artifact names only one: where one names the
 * other, whoever changes it sees so. H. Gall et al., "Detection of Logical Coupling" (ICSM 1998).
 */
async function forgottenStories(
  { files }: Impact,
  { artifact, ground }: ModeInput,
): Promise<Story[]> {
  const stories: Story[] = [];
  for (const { path, coChanges, history, view } of files)
    for (const { text } of coChanges) {
      const [, other = '', together, of] =
        /^changes together with (\S+) \((\d+) of (\d+) commits\)/.exec(text) ?? [];
      const [times, all] = [Number(together), Number(of)];
      const name = other.split('/').at(-1) ?? other;
      if (!(times >= togetherMin) || times < all * togetherShare || artifact.text.includes(name))
        continue;
      const its = await ground?.read(other);
      if (its === undefined || view === undefined) continue;
      if (its.includes(stemOf(path)) || view.text.includes(stemOf(other))) continue;
      stories.push({
        ...{ rule: 'PM_CHANGED_ALONE', severity: 'note', likely: 'low', place: { path, line: 1 } },
        title: `${path} was changed and ${other} was forgotten.`,
        cause: `They changed together in ${times} of ${history?.commits ?? all} commits, and neither of them nor the artifact names the other.`,
        happened: '',
        prevent: `Name ${other} where ${path} is spoken of, or have a test fail when they differ.`,
        evidence: [
          { path, line: 1 },
          { path: other, line: 1 },
        ],
      });
    }
  return stories;
}

/** As it is imported. */
function stemOf(path: string): string {
  return (path.split('/').at(-1) ?? path).replace(/\.\w+$/, '');
}

interface Sign {
  what: string;
  path: string;
  line: number;
}

const signsMax = 20;
const telling =
  /\b(?:console\.(?:warn|error)|log(?:ger)?\.(?:warn\w*|error|fatal)|pr_(?:err|warn|crit|alert|emerg)\w*|dev_(?:err|warn|crit)\w*|printk|WARN(?:_ON)?(?:_ONCE)?|syslog|fprintf\s{0,4}\(\s{0,4}stderr)\b/g;
const counting = /\.(?:inc|increment|observe|recordMetric|count)\s{0,4}\(/g;

/** Logs, codes and figures that are there today: by these it would be noticed. */
function signsOf({ files }: Impact): Sign[] {
  const signs: Sign[] = [];
  for (const { view, path } of files) {
    if (view === undefined) continue;
    const add = (what: string, at: number): void => {
      if (
        signs.length < signsMax &&
        !signs.some((each) => each.what === what && each.path === path)
      )
        signs.push({ what, path, line: view.lineOf(at) });
    };
    for (const { 0: what, index } of view.code.matchAll(telling))
      add(`a message by \`${what.replace(/\s+/g, '')}\``, index);
    for (const { code, line } of refusalsIn(view)) add(`the error ${code}`, view.offsetOf(line));
    for (const { index } of view.code.matchAll(counting)) add('a figure that is counted', index);
  }
  return signs;
}

function sectionsOf(stories: readonly Story[], signs: readonly Sign[]): Examined['sections'] {
  const none = 'The facts give no failure that can be told.';
  const told = stories.map(({ title, cause, happened }, at) =>
    `${at + 1}. **${title}** ${cause} ${happened}`.trim(),
  );
  const causes = stories.map(
    ({ title, cause, place }) => `${title} Root: ${cause} ${placed(place.path, place.line)}`,
  );
  const bySign = signs.map(({ what, path, line }) => `${what}, ${placed(path, line)}`);
  const rows = stories.map(({ title, likely, severity }) => [title, likely, severity]);
  const silent =
    'No log, error code or figure was found in the code that it is about: nothing there would tell.';
  return [
    { title: 'Failure Narratives', text: told.length === 0 ? none : told.join('\n') },
    { title: 'Root Cause Analysis', text: bullets(causes, none) },
    { title: 'Warning Signs', text: bullets(bySign, silent) },
    {
      title: 'Risk Matrix',
      text: `${table(['failure', 'probability', 'severity'], rows)}\n\nProbability: high is never given by rules; medium where the gap stands in the code, low where only its history speaks.`,
    },
    {
      title: 'Preventive Measures',
      text: bullets(
        stories.map(({ prevent }) => prevent),
        none,
      ),
    },
  ];
}
