import { isUntested, type Component, type FileKnowledge, type Impact } from '../impact/impact.js';
import { placed, type CodePlace } from '../impact/quote.js';
import { bullets, gravityOf, placeIn, placeOf, plural, table, usersOf } from '../impact/phrases.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import { severities, type Severity } from '../shapes.js';
import { examineImpact, type Shown } from './examine-impact.js';

const narrativesMax = 5;
/** With fewer users a function without a test is no story of its own. */
const hubUsers = 10;
/** Changed together in so many commits: a change of one alone forgets the other. */
const togetherMin = 5;
const togetherShare = 0.5;
/** Calls that use a result, for each that ignores it: with fewer nothing is usual. */
const usualTimes = 4;

/** A failure that is imagined to have happened, from facts alone. */
interface Story {
  rule: string;
  severity: Severity;
  /** Likely and grave, as words of the risk matrix. */
  likely: 'low' | 'medium' | 'high';
  title: string;
  happened: string;
  cause: string;
  prevent: string;
  place: CodePlace;
  evidence: CodePlace[];
  component?: Component;
}

/** S-004: it has failed; how that came about, as far as facts show it. */
export const preMortem: Mode = {
  name: 'pre-mortem',
  text: 'critic-pre-mortem',
  sections: [
    'Failure Narratives',
    'Root Cause Analysis',
    'Warning Signs',
    'Risk Matrix',
    'Preventive Measures',
  ],
  examine,
};

function examine(input: ModeInput): Promise<Examined> {
  return examineImpact('pre-mortem', input, async (impact) => {
    const forgotten = await forgottenStories(impact, input);
    const stories = storiesOf(impact, forgotten).slice(0, narrativesMax);
    const signs = signsOf(impact);
    return {
      found: stories.map((each) => shownOf(each, impact, input)),
      unable: [
        ...(stories.length < 3
          ? [`to imagine three failures: the facts give ${stories.length}`]
          : []),
        'to imagine failures of people, plans and organisation: a reader or a model has to',
      ],
      sections: () => sectionsOf(stories, signs),
    };
  });
}

function shownOf(story: Story, impact: Impact, { artifact }: ModeInput): Shown {
  const { rule, severity, title, happened, cause, prevent, place, component, evidence } = story;
  return {
    ...{ rule, severity, remedy: prevent, words: title, places: evidence },
    text: `${title} ${cause} ${happened}`,
    place:
      component === undefined || place.path === artifact.path
        ? placeIn(place.path, place.line, artifact, impact)
        : placeOf(component, artifact, impact),
  };
}

/** Worst first, then in the order of the code; one of each kind and function. */
function storiesOf(impact: Impact, forgotten: readonly Story[]): Story[] {
  const all = [
    ...impact.components.flatMap((each) => [...ignoredStory(each), ...hubStory(each, impact)]),
    ...impact.files.flatMap(threatStories),
    ...forgotten,
  ];
  const seen = new Set<string>();
  // One is enough: the function that has most users.
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

/** Who is affected, in a sentence; empty where no user is known. */
function affected(component: Component): string {
  const { reach } = component;
  if (reach === undefined || reach.consumers === 0) return '';
  const [opening] = reach.openings;
  const outside =
    opening === undefined ? '' : ` It can be reached from an entry point: ${opening.reason}.`;
  return `It affected ${usersOf(reach)}.${outside}`;
}

function callersOf({ reach }: Component): CodePlace[] {
  return (reach?.callers ?? []).slice(0, 2).flatMap(({ call_site }) => {
    const [, path, line] = /^(.+):(\d+)$/.exec(call_site) ?? [];
    return path === undefined ? [] : [{ path, line: Number(line) }];
  });
}

/** D. Engler et al., "Bugs as Deviant Behavior" (SOSP 2001): what most callers do and a few do not is a fault, or needs a comment. */
function ignoredStory(component: Component): Story[] {
  const { name, path, line, ignoring, using, returnsErrors } = component;
  if (!returnsErrors || ignoring.length === 0 || using < ignoring.length * usualTimes) return [];
  const sites = ignoring.map(({ file_path, line: at }) => ({ path: file_path, line: at }));
  const [first] = sites;
  return [
    {
      ...{ rule: 'PM_RESULT_IGNORED', severity: 'minor', likely: 'medium', component },
      title: `\`${name}\` failed and its caller went on.`,
      cause: `It can return an error; ${plural(using, 'call')} use its result, ${ignoring.length} do not: ${sites
        .slice(0, 3)
        .map((each) => `${each.path}:${each.line}`)
        .join(', ')}.`,
      happened: affected(component),
      prevent: `Use what \`${name}\` returns in ${first?.path ?? path}:${first?.line ?? line}, or say there why it does not matter.`,
      place: { path, line },
      evidence: [...sites.slice(0, 4), { path, line }],
    },
  ];
}

/** None was found. */
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
        ? `No test was found that calls any of the ${all.length} functions that were looked at, directly or through others; this one has most users.`
        : 'No test was found that calls it, directly or through others.',
      happened: affected(component),
      prevent: `Write a test that calls \`${name}\` as ${reach.callers[0]?.symbol ?? 'its users'} does.`,
      place: { path, line },
      evidence: [{ path, line }, ...callersOf(component)],
    },
  ];
}

function threatStories(file: FileKnowledge): Story[] {
  return file.threats
    .filter((each) => ['critical', 'major'].includes(gravityOf(each, file)))
    .map((threat): Story => {
      const [way] = file.exposures;
      const place = { path: file.path, line: threat.line };
      const name = threat.symbol.split('#')[1] ?? threat.symbol;
      return {
        ...{ rule: 'PM_WEAKNESS_USED', severity: gravityOf(threat, file), likely: 'medium', place },
        title: `An attacker used \`${name}\`.`,
        cause: `At ${file.path}:${threat.line}: ${threat.description} (${threat.cwe}).`,
        happened: way === undefined ? '' : `The entry point: ${way.surface} (${way.place}).`,
        prevent: `Check what reaches ${file.path}:${threat.line} before it is used there.`,
        evidence: [place],
      };
    });
}

/**
 * Files that change together though neither names the other, and of which the artifact names only one. Where one names
 * the other, the link is visible. H. Gall et al., "Detection of Logical Coupling" (ICSM 1998).
 */
async function forgottenStories(
  { files }: Impact,
  { artifact, ground }: ModeInput,
): Promise<Story[]> {
  const stories: Story[] = [];
  for (const { path, coChanges, commits, code } of files)
    for (const { text: item } of coChanges) {
      const [, other = '', together, of] =
        /^changes together with (\S+) \((\d+) of (\d+) commits\)/.exec(item) ?? [];
      const [times, all] = [Number(together), Number(of)];
      const name = other.split('/').at(-1) ?? other;
      if (!(times >= togetherMin) || times < all * togetherShare || artifact.text.includes(name))
        continue;
      const text = await ground?.read(other);
      if (text === undefined || code === undefined) continue;
      if (text.includes(stemOf(path)) || code.text.includes(stemOf(other))) continue;
      stories.push({
        ...{ rule: 'PM_CHANGED_ALONE', severity: 'note', likely: 'low', place: { path, line: 1 } },
        title: `${path} was changed and ${other} was forgotten.`,
        cause: `They changed together in ${times} of ${commits ?? all} commits, and neither of them nor the artifact names the other.`,
        happened: '',
        prevent: `Name ${other} where ${path} is described, or have a test fail when they differ.`,
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
/** Functions that report something, and those that count something, by their names. */
const reporting =
  /^(?:warn\w*|error|fatal|pr_(?:err|warn|crit|alert|emerg)\w*|dev_(?:err|warn|crit)\w*|printk|WARN(?:_ON)?(?:_ONCE)?|syslog)$/;
const counting = /^(?:inc|increment|observe|recordMetric|count)$/;

/** Messages, errors and counters by which it would be noticed. */
function signsOf({ files }: Impact): Sign[] {
  const signs = new Map<string, Sign>();
  for (const { code, path } of files) {
    const add = (what: string, line: number): void => {
      const key = `${what} ${path}`;
      if (signs.size < signsMax && !signs.has(key)) signs.set(key, { what, path, line });
    };
    for (const { name, receiver, line } of code?.parts.calls ?? []) {
      const written = receiver === '' ? name : `${receiver}.${name}`;
      if (reporting.test(name)) add(`a message by \`${written}\``, line);
      else if (counting.test(name) && receiver !== '') add(`a counter, \`${written}\``, line);
    }
    for (const { code: error, line } of code?.parts.errors ?? []) add(`the error ${error}`, line);
  }
  return [...signs.values()];
}

function sectionsOf(stories: readonly Story[], signs: readonly Sign[]): Record<string, string> {
  const none = 'The facts give no failure.';
  const narratives = stories.map(({ title, cause, happened }, at) =>
    `${at + 1}. **${title}** ${cause} ${happened}`.trim(),
  );
  const causes = stories.map(
    ({ title, cause, place }) => `${title} Root: ${cause} ${placed(place.path, place.line)}`,
  );
  const bySign = signs.map(({ what, path, line }) => `${what}, ${placed(path, line)}`);
  const rows = stories.map(({ title, likely, severity }) => [title, likely, severity]);
  const silent =
    'No log, error code or counter was found in the code that it is about: nothing there would show it.';
  return {
    'Failure Narratives': narratives.length === 0 ? none : narratives.join('\n'),
    'Root Cause Analysis': bullets(causes, none),
    'Warning Signs': bullets(bySign, silent),
    'Risk Matrix': `${table(['failure', 'probability', 'severity'], rows)}\n\nProbability: high is never given by rules; medium where the code shows the cause, low where only its history does.`,
    'Preventive Measures': bullets(
      stories.map(({ prevent }) => prevent),
      none,
    ),
  };
}
