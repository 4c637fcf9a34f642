// Read before a program (`node --import`): the packages that WITHOUT names are not there for its modules, neither
// where npm put them nor as a file of the bundle (deploy/setup.mjs).
import { register } from 'node:module';

const hooks = `
  const names = ${JSON.stringify((process.env.WITHOUT ?? '').split(','))};
  export function resolve(wanted, context, next) {
    const isMissing = (name) =>
      wanted === name || [name + '/', './' + name + '-'].some((start) => wanted.startsWith(start));
    if (names.some(isMissing))
      throw new Error(wanted + ' is not there');
    return next(wanted, context);
  }`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
