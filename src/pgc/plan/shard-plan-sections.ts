import { restTitle, sectionFinder, sectionsOf, type OwnersFile } from './shard-plan-owners.js';
import { autoShardsMax, cutFiles, shardLinesMax } from './shard-plan-cut.js';
import { addTo, linesOf, ownerOf, type PlannedFile } from './planned-shards.js';

/** A shard by owners: a title and its paths. */
export interface OwnedPart {
  title: string;
  /** Folders and files; the longest matching path wins. One part has `.`. */
  paths: string[];
}

/** Files that stay together. */
interface Unit {
  title: string;
  files: PlannedFile[];
  lines: number;
}

const budgetGrowth = 1.25;
/** Units below this share of the budget are merged with others in the folder above. */
const companyShare = 0.5;

/**
 * Cuts a tree by a file of owners: sections above the line budget are cut along their folders, small ones are merged
 * with the nearest. Throws SHARD_PLAN_INVALID.
 */
export function cutByOwners(files: readonly PlannedFile[], file: OwnersFile): OwnedPart[] {
  const sections = sectionsOf(file);
  const find = sectionFinder(sections);
  const members = new Map<string, PlannedFile[]>();
  for (const each of files) addTo(members, sections[find(each.path)]?.title ?? restTitle, each);
  for (let budget = shardLinesMax; ; budget *= budgetGrowth) {
    const units = [...members].flatMap(([title, own]) => cutUnit(title, own, budget));
    const groups = merge(units, budget);
    if (groups.length <= autoShardsMax) return partsOf(groups);
  }
}

function cutUnit(title: string, files: readonly PlannedFile[], budget: number): Unit[] {
  if (linesOf(files) <= budget) return [unitOf(title, files)];
  const parts = cutFiles(files, budget);
  const owner = ownerOf(parts.map((paths) => ({ alias: '', paths })));
  const units = new Map<number, PlannedFile[]>();
  for (const each of files) addTo(units, owner(each.path) ?? 0, each);
  return [...units.values()].map((own) => unitOf(title, own));
}

/** Merges from the leaves up: units of one folder before units of the folder above. */
function merge(units: readonly Unit[], budget: number): Unit[] {
  const root: Place = { units: [], below: new Map() };
  for (const unit of units) {
    let place = root;
    for (const name of homeOf(unit).split('/').filter(Boolean)) {
      let next = place.below.get(name);
      if (next === undefined) place.below.set(name, (next = { units: [], below: new Map() }));
      place = next;
    }
    place.units.push(unit);
  }
  const done: Unit[] = [];
  const left = gather(root, budget, done);
  const [last] = left;
  const nearest = done.at(-1);
  // A shard of a few lines is not worth the overhead.
  if (left.length === 1 && last !== undefined && nearest !== undefined) {
    if (last.lines + nearest.lines <= budget) {
      done[done.length - 1] = joined(nearest, last);
      return done;
    }
  }
  return [...done, ...left];
}

interface Place {
  units: Unit[];
  below: Map<string, Place>;
}

/** Returns the units that are too small to stand alone; the others are added to `done`. */
function gather(place: Place, budget: number, done: Unit[]): Unit[] {
  const names = [...place.below.keys()].sort();
  const small = names.flatMap((name) => gather(place.below.get(name) as Place, budget, done));
  const own = place.units.sort((a, b) => (a.title < b.title ? -1 : 1));
  const packed: Unit[] = [];
  for (const unit of [...own, ...small]) {
    const last = packed.at(-1);
    if (last !== undefined && last.lines + unit.lines <= budget) {
      packed[packed.length - 1] = joined(last, unit);
    } else packed.push(unit);
  }
  const isSmall = ({ lines }: Unit): boolean => lines < budget * companyShare;
  done.push(...packed.filter((unit) => !isSmall(unit)));
  return packed.filter(isSmall);
}

/** Takes the title of the larger one. */
function joined(one: Unit, other: Unit): Unit {
  const { title } = other.lines > one.lines ? other : one;
  for (const file of other.files) one.files.push(file);
  return { title, files: one.files, lines: one.lines + other.lines };
}

function unitOf(title: string, files: readonly PlannedFile[]): Unit {
  return { title, files: [...files], lines: linesOf(files) };
}

/** The deepest folder with more than half of the lines. */
function homeOf({ files, lines }: Unit): string {
  const weights = new Map<string, number>();
  for (const { path, lines: own } of files) {
    for (let folder = path; folder !== '';) {
      folder = folder.slice(0, Math.max(folder.lastIndexOf('/'), 0));
      weights.set(folder, (weights.get(folder) ?? 0) + own + 1);
    }
  }
  const half = (lines + files.length) / 2;
  let home = '';
  for (const [folder, weight] of weights) {
    if (weight > half && folder.length > home.length) home = folder;
  }
  return home;
}

interface Folder {
  /** Lines by group, plus a little for each file. */
  weights: Map<number, number>;
  files: { path: string; group: number }[];
  below: Map<string, Folder>;
}

/**
 * The fewest paths that give each file to its group: a folder goes to the group that has most of it, and what belongs
 * to other groups is named separately. So files that are added later have an owner, too.
 */
function partsOf(groups: readonly Unit[]): OwnedPart[] {
  const root = emptyFolder();
  for (const [group, { files }] of groups.entries()) {
    for (const { path, lines } of files) enter(root, path, group, lines + 1);
  }
  const parts = groups.map(({ title }): OwnedPart => ({ title, paths: [] }));
  name(root, '.', -1, parts);
  return parts;
}

function emptyFolder(): Folder {
  return { weights: new Map(), files: [], below: new Map() };
}

function enter(root: Folder, path: string, group: number, weight: number): void {
  let folder = root;
  const weigh = (): unknown => folder.weights.set(group, (folder.weights.get(group) ?? 0) + weight);
  weigh();
  for (const part of path.split('/').slice(0, -1)) {
    let next = folder.below.get(part);
    if (next === undefined) folder.below.set(part, (next = emptyFolder()));
    folder = next;
    weigh();
  }
  folder.files.push({ path, group });
}

function name(folder: Folder, path: string, above: number, parts: readonly OwnedPart[]): void {
  let [owner, most] = [above, folder.weights.get(above) ?? 0];
  for (const [group, weight] of folder.weights) if (weight > most) [owner, most] = [group, weight];
  if (owner !== above) parts[owner]?.paths.push(path);
  for (const file of folder.files) {
    if (file.group !== owner) parts[file.group]?.paths.push(file.path);
  }
  for (const [child, below] of [...folder.below].sort(([a], [b]) => (a < b ? -1 : 1)))
    name(below, path === '.' ? child : `${path}/${child}`, owner, parts);
}
