// `npm run operator -- COMMAND …`: whatever is missing or stale, then the operator tool, in this very process.
import { bootstrap, ensureBuild, ensurePrismaClient } from './setup.mjs';
import { stopWith } from './steps.mjs';

// Standard output is for the tool's JSON.
console.log = console.error;
await bootstrap();
await ensurePrismaClient();
const problems = await ensureBuild();
if (problems) stopWith(`${problems}\nThe sources do not compile.`);
await import('../../apps/operator/dist/main.js');
