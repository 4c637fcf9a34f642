import type {
  Answer,
  Draft,
  Role,
  Row,
  AttendRequest,
  Deficit,
  Protocol,
  Route,
  SessionNote,
  TeamStructure,
} from './shapes.js';
import type { Snapshot } from '../../machine/step.js';
import type { sessionMachine } from './session.machine.js';

/** What an upstream protocol is under way for: `SuspendState`, durable. */
export interface Suspension {
  protocol: Protocol;
  how: 'route' | 'other';
  deficit: string;
}

/** The one durable record of a session. `version` is of this layout. */
export interface SessionRecord {
  kind: 'attend';
  version: 1;
  /** The context. */
  id: string;
  run: number;
  revision: number;
  snapshot: Snapshot<typeof sessionMachine>;
  owner: string;
  asked: AttendRequest;
  deficits: Deficit[];
  /** Protocols that were executed, and deficits that another one has addressed. */
  resolved: string[];
  suspended: Suspension | null;
  brought: { protocol: Protocol; text: string }[];
  route: Route | '';
  found: Draft[];
  proposed: Draft[];
  drafts: Draft[];
  team: TeamStructure | null;
  /** Members of the team that can take none of its tasks, with the reason; absent: of an earlier version. */
  absent?: Record<string, string>;
  /** Roles that wait to be confirmed. */
  cast: Role[];
  /** What is asked before anything is delegated. */
  checkpoint: 'classification' | 'plan' | '';
  rows: Row[];
  /** Questions so far. */
  questions: number;
  answers: Answer[];
  notes: SessionNote[];
  /** Since when the state is this one. */
  since_ms: number;
  created_ms: number;
  updated_ms: number;
  finished_ms: number;
}
