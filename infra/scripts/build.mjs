// `npm run build`
import { bootstrap, ensureBuild, ensurePrismaClient } from './setup.mjs';
import { stopWith } from './steps.mjs';

await bootstrap();
await ensurePrismaClient();
const problems = await ensureBuild();
if (problems) stopWith(`${problems}\nThe sources do not compile.`);
console.log('The build is up to date.');
