import type { ServedPrompt, ServedResource } from "./define-server.ts";

export const demoResources: readonly ServedResource[] = [
  {
    definition: {
      uri: "file:///readme.txt",
      name: "readme.txt",
      description: "What this server is for",
      mimeType: "text/plain",
    },
    text: "This server shows what a host can do with tools, resources and prompts.\n",
  },
  {
    definition: {
      uri: "file:///config.json",
      name: "config.json",
      description: "Settings of an imaginary program",
      mimeType: "application/json",
    },
    text: `${JSON.stringify({ theme: "dark", retries: 3 }, null, 2)}\n`,
  },
  {
    definition: {
      uri: "file:///data/users.csv",
      name: "users.csv",
      description: "Three imaginary users",
      mimeType: "text/csv",
    },
    text: "id,name\n1,Ada\n2,Grace\n3,Edsger\n",
  },
];

export const demoPrompts: readonly ServedPrompt[] = [
  {
    definition: {
      name: "greeting",
      description: "Greets a person",
      arguments: [{ name: "name", description: "Whom to greet", required: true }],
    },
    render: ({ name }) => userMessage(`Say hello to ${name} in one warm sentence.`),
  },
  {
    definition: {
      name: "code_review",
      description: "Reviews a piece of code",
      arguments: [
        { name: "code", description: "The code", required: true },
        { name: "language", description: "Its programming language", required: false },
      ],
    },
    render: ({ code, language = "unknown language" }) =>
      userMessage(`Review this code (${language}) and name its worst problem first:\n\n${code}`),
  },
];

function userMessage(text: string): ReturnType<ServedPrompt["render"]> {
  return { messages: [{ role: "user", content: { type: "text", text } }] };
}
