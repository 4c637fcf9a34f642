import type { BlastNode, CriticalPath } from '../../pgc/analyse/blast-radius.js';
import type { Exposure, Threat } from '../../pgc/analyse/security-blast-radius.js';
import type { SourceCode } from '../../pgc/mine/code-reader.js';
import type { HandlerPart } from '../../pgc/mine/code-parts.js';
import type { CallSite } from '../../pgc/shapes.js';

/** Ours: how much is asked about one artifact. What lies beyond is reported in `unable`. */
export const impactLimits = {
  /** Functions and files that are asked about. */
  components: 24,
  /** Files that are parsed. */
  files: 12,
  /** Of those, files whose overlays are asked. */
  overlayFiles: 4,
  /** With more direct users the users of those are not asked for. */
  wide: 60,
  /** With fewer users nothing is usual. */
  usersMin: 4,
  /** Names of a document that are looked up. */
  names: 60,
  /** Definitions of one name; a name with more is ambiguous. */
  definitions: 3,
  /** Callers, tests, places that are kept of each. */
  kept: 8,
  /** One question to the index. */
  questionMs: 6_000,
  /** All of them: half of what a mode has. */
  gatherMs: 30_000,
  /** Calls that separate a function from the users that a change of it affects. */
  depth: 3,
} as const;

/** An item of an overlay. */
export interface Fact {
  overlay: string;
  rule: string;
  path: string;
  line: number;
  text: string;
}

/** Who is affected when a component fails. */
export interface Reach {
  /** Distinct users within `impactLimits.depth` calls, without tests. */
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
  /** Entry points from which it can be reached. */
  openings: CriticalPath[];
  /** It is called through a table, or is an entry point itself: calls in the text do not show who reaches it. */
  isHeld: boolean;
  /** Calls of a member of its name that are bound to nothing: they may call it. */
  alike: { users: CallSite[]; tests: CallSite[] };
}

/** An error that code throws or returns: `INBOX_FULL`, `TypeError`, `EINVAL`. */
export interface ErrorPlace {
  code: string;
  line: number;
}

/** A function, or a whole file, that an artifact is about. */
export interface Component {
  /** `path#name`, or the path of a file. */
  id: string;
  name: string;
  kind: string;
  path: string;
  line: number;
  line_end: number;
  /** Undefined: the index could not be asked. */
  reach: Reach | undefined;
  /** Decisions in its text, plus one; undefined: it could not be parsed. */
  branches: number | undefined;
  /** Handlers that catch an error and do nothing. */
  emptyHandlers: HandlerPart[];
  errors: ErrorPlace[];
  threats: Threat[];
  /** Assertions, checks of locks, bounds, and what its comments state: items of O6. */
  checks: Fact[];
  /** Call sites outside of tests that ignore its result; how many use it. */
  ignoring: CallSite[];
  using: number;
  /** It returns error numbers, as C does. */
  returnsErrors: boolean;
}

/** What is known of one file that an artifact is about. */
export interface FileKnowledge {
  path: string;
  /** Undefined: it cannot be read, or its language is not parsed. */
  code: SourceCode | undefined;
  /** Of O2: weaknesses in the file itself. */
  threats: Threat[];
  exposures: Exposure[];
  isExposed: boolean;
  isWide: boolean;
  /** Of O2: entry points, and what protects. */
  surfaces: Fact[];
  defences: Fact[];
  /** Of O6. */
  checks: Fact[];
  /** Undefined: its history is not known. */
  commits: number | undefined;
  /** Of O3: paths that change together with it. */
  coChanges: Fact[];
}

/** Which code an artifact is about, and what is known of it. */
export interface Impact {
  /** The artifact itself is source code. */
  isCode: boolean;
  components: Component[];
  files: FileKnowledge[];
  /** Names that the artifact gives, as they are written, and the components that they mean. */
  named: ReadonlyMap<string, string[]>;
  /** The tree has tests that are known as such. */
  hasTests: boolean;
  unable: string[];
}

/** No test was found that calls it, and nothing hides one. */
export function isUntested({ reach, kind }: Component, { hasTests }: Impact): boolean {
  if (kind === 'file' || reach === undefined || !hasTests) return false;
  const { tests, isMore, isHeld, alike } = reach;
  return tests.length === 0 && !isMore && !isHeld && alike.tests.length === 0;
}

export function fileOf(impact: Impact, path: string): FileKnowledge | undefined {
  return impact.files.find((each) => each.path === path);
}
