import { BusError } from '../../errors/bus-error.js';
import {
  sessionLimits,
  type Member,
  type Role,
  type TeamRef,
  type TeamStructure,
} from './shapes.js';

/** Source: Sub-B, `TeamStructure ∈ {Solo, Augmented, Restructured}` and "retain as-is". */
export function retained(team: TeamRef): TeamStructure {
  return { kind: 'retained', team };
}

/** Cap: six roles in all, those that the team has included. Throws USAGE. */
export function augmented(team: TeamRef, roles: readonly Role[]): TeamStructure {
  const all = team.members.length + roles.length;
  if (roles.length === 0) throw usage('augment needs roles: [{"name": "reviewer"}]');
  if (all > sessionLimits.roles)
    throw usage(`a team of ${all} roles; at most ${sessionLimits.roles} in all`);
  assertNew(team.members, roles);
  return { kind: 'augmented', team, roles: [...roles] };
}

/** Guard: |retain| ≥ 1; a team without a retained member is Solo. Throws USAGE. */
export function restructured(
  team: TeamRef,
  names: readonly string[],
  roles: readonly Role[],
): TeamStructure {
  const known = new Set(team.members.map(({ name }) => name));
  const unknown = names.find((each) => !known.has(each));
  if (unknown !== undefined) throw usage(`${unknown} is no member of ${team.name}`);
  const staying = [...new Set(names)];
  if (staying.length === 0) return { kind: 'solo' };
  const all = staying.length + roles.length;
  if (all > sessionLimits.roles)
    throw usage(`a team of ${all} roles; at most ${sessionLimits.roles} in all`);
  assertNew(
    team.members.filter(({ name }) => staying.includes(name)),
    roles,
  );
  return { kind: 'restructured', team, roles: [...roles], retained: staying };
}

function assertNew(members: readonly Member[], roles: readonly Role[]): void {
  const names = [...members, ...roles].map(({ name }) => name);
  const twice = names.find((each, at) => names.indexOf(each) !== at);
  if (twice !== undefined) throw usage(`${twice} is in the team twice`);
}

/** Who is in it, by the structure. */
export function membersOf(structure: TeamStructure | null): Member[] {
  if (structure === null || structure.kind === 'solo') return [];
  const { members } = structure.team;
  if (structure.kind === 'retained') return members;
  const staying =
    structure.kind === 'augmented'
      ? members
      : members.filter(({ name }) => structure.retained.includes(name));
  const added = structure.roles.map(({ name, type, focus }) => ({
    name,
    type,
    perspective: focus,
  }));
  return [...staying, ...added];
}

/** The member that a role means: by name, else by type, else by perspective. */
export function memberFor(structure: TeamStructure | null, role: string): Member | undefined {
  if (role === '') return undefined;
  const members = membersOf(structure);
  return (
    members.find(({ name }) => name === role) ??
    members.find(({ type }) => type === role) ??
    members.find(({ perspective }) => perspective === role)
  );
}

function usage(detail: string): BusError {
  return new BusError('USAGE', { detail });
}
