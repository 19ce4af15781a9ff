// Calls `echo` of the server whose entry is the argument, with the built package, and prints the answer or
// the error.
import { connectClient } from "../../dist/entries/client.js";

const print = (value) => console.log(JSON.stringify(value));

try {
  const client = await connectClient(JSON.parse(process.argv[2]));
  const result = await client.callTool("echo", { message: "hello" });
  await client.close();
  print(result.toText());
} catch (error) {
  print(error);
}
