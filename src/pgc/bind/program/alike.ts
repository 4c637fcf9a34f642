/** Functions that take the same. */
import type { TypeText } from '../../format/expression.js';
import { hasMark, typesIn, type Definition } from './definition.js';

/** Functions by what they take: each with all that declares or defines it. */
export function families(all: readonly Definition[]): (readonly Definition[])[] {
  if (all.length < 2) return all.map((each) => [each]);
  const found = new Map<string, Definition[]>();
  for (const each of all) {
    const shape = each.isBare === true ? '' : shapeOf(each);
    const known = found.get(shape);
    if (known === undefined) found.set(shape, [each]);
    else known.push(each);
  }
  // What says nothing of its parameters may be any of them.
  const bare = found.get('') ?? [];
  if (bare.length > 0 && found.size > 1) {
    found.delete('');
    for (const family of found.values()) family.push(...bare);
  }
  return [...found.values()];
}

const shapes = new WeakMap<Definition, string>();

/** What a function takes, without the namespaces of types: declarations call them otherwise than definitions. */
function shapeOf(definition: Definition): string {
  let shape = shapes.get(definition);
  if (shape === undefined) {
    const own = typesIn(definition, 'bound').map(({ name }) => name);
    const named = (type: TypeText | undefined): string => {
      if (type === undefined) return '?';
      const at = own.indexOf(type.name);
      const name = at >= 0 ? `#${at}` : type.name.slice(type.name.lastIndexOf('.') + 1);
      return type.args.length === 0
        ? name
        : `${name}<${type.args.map((each) => named(each.type)).join(',')}>`;
    };
    const parameters = typesIn(definition, 'parameter').map(
      ({ name, type }) => `${name.replace(/^[=&]$/, '')}${named(type)}`,
    );
    shape = `(${parameters.join(',')})${hasMark(definition, 'const') ? 'const' : ''}`;
    shapes.set(definition, shape);
  }
  return shape;
}

/** Whether two methods take the same: type parameters of the replaced one stand for anything. */
export function isAlike(method: Definition, replaced: Definition): boolean {
  const [own, others] = [method, replaced].map((each) => typesIn(each, 'parameter'));
  if (own === undefined || others === undefined || own.length !== others.length) return false;
  const [open, its] = [replaced, method].map(
    (each) => new Set(typesIn(each, 'bound').map(({ name }) => name)),
  );
  return own.every(({ type }, at) => {
    const other = others[at]?.type;
    if (type === undefined || other === undefined) return true;
    const [one, two] = [erased(type), erased(other)];
    if (one === two) return true;
    return open?.has(two.replace(/^\$array /, '')) === true || its?.has(one) === true;
  });
}

/** Whether two methods call their parameters the same. */
export function isSame(one: Definition, other: Definition): boolean {
  const [own, others] = [one, other].map((each) =>
    typesIn(each, 'parameter').map(({ type }) => (type === undefined ? '' : erased(type))),
  );
  return own?.join() === others?.join();
}

/** Without the packages and arguments of types. */
function erased({ name, args }: { name: string; args: readonly { type: unknown }[] }): string {
  const first = args[0]?.type;
  if (/^\$(?:array|ptr|const)$/.test(name) && isTypeText(first)) return `${name} ${erased(first)}`;
  return name.slice(name.lastIndexOf('.') + 1);
}

function isTypeText(type: unknown): type is { name: string; args: readonly { type: unknown }[] } {
  return typeof type === 'object' && type !== null && 'name' in type;
}
