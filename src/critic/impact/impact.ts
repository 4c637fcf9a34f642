import type { BlastNode, CriticalPath } from '../../pgc/analyse/blast-radius.js';
import type { Exposure, Threat } from '../../pgc/analyse/security-blast-radius.js';
import type { CallSite } from '../../pgc/shapes.js';
import type { CodeView } from './code-view.js';
import type { Effect } from './effects.js';
import type { Gap } from './gap.js';
import type { Refusal } from './refusals.js';

/** Ours: how much is asked about one artifact. What is beyond is said in `unable`. */
export const impactLimits = {
  /** Functions and files that are asked about. */
  components: 24,
  /** Files that are read as a whole. */
  files: 12,
  /** Of those, files of which the overlays are asked. */
  overlayFiles: 4,
  /** With more direct users nobody looks at theirs. */
  wide: 60,
  /** With fewer users nobody can say what is usual. */
  usersMin: 4,
  /** Names of a document that are looked up. */
  names: 60,
  /** Definitions of one name; of more nobody knows which is meant. */
  definitions: 3,
  /** Callers, tests, places that are kept of each. */
  kept: 8,
  /** One question to the index. */
  questionMs: 6_000,
  /** All of them: half of what a mode has. */
  gatherMs: 30_000,
  /** Calls from a function to whoever is touched by a change of it. */
  depth: 3,
} as const;

/** An item of an overlay at a place. */
export interface Fact {
  overlay: string;
  rule: string;
  path: string;
  line: number;
  text: string;
}

/** Who is touched when a component does not do what it should. */
export interface Reach {
  /** Distinct users within `impactLimits.depth` calls, tests aside. */
  consumers: number;
  direct: number;
  /** There are more than were found. */
  isMore: boolean;
  /** Shards in which users are. */
  agents: string[];
  /** Nearest first. */
  callers: BlastNode[];
  /** Tests within `impactLimits.depth` calls, nearest first. */
  tests: BlastNode[];
  testsDirect: number;
  /** Where the outside comes in and gets to it. */
  openings: CriticalPath[];
  /** It is called through a table or is itself a way in: calls in the text do not tell who gets there. */
  isHeld: boolean;
  /** Calls of a member of its name that the text does not tie to anything: they may be of it. */
  alike: { users: CallSite[]; tests: CallSite[] };
}

/** A function, or a file as a whole, that an artifact is about. */
export interface Component {
  /** `path#name`, or the path of a file. */
  id: string;
  name: string;
  kind: string;
  path: string;
  line: number;
  line_end: number;
  doc: string;
  /** Undefined: the index could not be asked. */
  reach: Reach | undefined;
  /** Decisions in its text, and one; undefined: it could not be read. */
  branches: number | undefined;
  gaps: Gap[];
  effects: Effect[];
  refusals: Refusal[];
  threats: Threat[];
  /** Assertions, checks of locks, bounds. */
  checks: Fact[];
  /** Call sites outside of tests whose result is not looked at; how many look at it. */
  ignoring: CallSite[];
  using: number;
  /** Its text returns numbers of errors, as C does. */
  givesErrors: boolean;
}

export interface FileHistory {
  commits: number;
  authors: number;
  /** As git told it. */
  text: string;
}

/** What is known of one file that an artifact is about. */
export interface FileFacts {
  path: string;
  /** Undefined: it cannot be read, or is of no language that is read here. */
  view: CodeView | undefined;
  gaps: Gap[];
  effects: Effect[];
  refusals: Refusal[];
  /** Of O2: weaknesses in the file itself. */
  threats: Threat[];
  exposures: Exposure[];
  /** How grave the weaknesses are here, by its own table: exposed, wide. */
  isExposed: boolean;
  isWide: boolean;
  /** Of O2: ways in, and what protects. */
  surfaces: Fact[];
  defences: Fact[];
  /** Of O6. */
  checks: Fact[];
  /** Of O5: what it is configured by. */
  parameters: Fact[];
  /** Undefined: nothing is known of it. */
  history: FileHistory | undefined;
  /** Of O3: paths that change together with it. */
  coChanges: Fact[];
}

/** Which code an artifact is about, and what is known of it. */
export interface Impact {
  /** The artifact itself is source code. */
  isCode: boolean;
  /** The artifact stands in the tree as it was given: its lines are those of the tree. */
  isSame: boolean;
  components: Component[];
  files: FileFacts[];
  /** Names that the artifact gives, as they are written, and the components that they mean. */
  named: ReadonlyMap<string, string[]>;
  /** The tree has tests that are known as such. */
  hasTests: boolean;
  unable: string[];
}

/** Nobody calls it in a test that was found, and nothing hides one. */
export function isUntested({ reach, kind }: Component, { hasTests }: Impact): boolean {
  if (kind === 'file' || reach === undefined || !hasTests) return false;
  const { tests, isMore, isHeld, alike } = reach;
  return tests.length === 0 && !isMore && !isHeld && alike.tests.length === 0;
}

export function fileOf(impact: Impact, path: string): FileFacts | undefined {
  return impact.files.find((each) => each.path === path);
}
