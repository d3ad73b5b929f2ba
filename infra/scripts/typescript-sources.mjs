import { registerHooks } from 'node:module';

/**
 * Lets Node 24 run the parts of our own TypeScript that scripts need (the embedded PostgreSQL, the migration runner)
 * without a build: Node strips the types itself, but imports say `./x.js` where the source is `./x.ts`. Only for
 * files without decorators, enums and parameter properties.
 */
registerHooks({
  resolve(specifier, context, next) {
    const ours =
      specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL?.endsWith('.ts');
    return next(ours ? specifier.replace(/\.js$/, '.ts') : specifier, context);
  },
});
