// `npm start`: whatever is missing or stale, then the server, in this very process: nothing to forward, and no second
// process that could outlive the first.
import { bootstrap, ensureBuild, ensurePrismaClient } from './setup.mjs';
import { stopWith } from './steps.mjs';

await bootstrap();
await ensurePrismaClient();
const problems = await ensureBuild();
if (problems) stopWith(`${problems}\nThe sources do not compile.`);
await import('../../apps/api/dist/main.js');
