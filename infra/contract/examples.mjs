// Examples are read more often than schemas, so a wrong one is a wrong contract.

/** What is wrong or missing among the examples of the operations; empty when all is well. */
export function exampleProblems(operations) {
  const problems = [];
  const check = (where, schema, example) => {
    if (example === undefined) problems.push(`${where}: has no example`);
    else {
      const issue = schema.safeParse(example).error?.issues[0];
      if (issue) problems.push(`${where}: ${issue.path.join('.')} ${issue.message}`);
    }
  };
  for (const operation of operations) {
    if (operation.body) check(`${operation.id} request`, operation.body, operation.example);
    for (const [status, { schema, example }] of Object.entries(operation.responses)) {
      if (schema) check(`${operation.id} ${status}`, schema, example);
    }
  }
  return problems;
}
