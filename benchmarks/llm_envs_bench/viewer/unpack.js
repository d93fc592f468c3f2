// Episodes lie in the page in compressed groups; a group is unpacked when one of its episodes is looked at.

const groupStarts = [];
{
  let start = 0;
  for (const size of data.groups) {
    groupStarts.push(start);
    start += size;
  }
}
const unpacked = new Map(); // group -> its episodes, each a list of plays

function groupOf(number) {
  let group = groupStarts.length - 1;
  while (groupStarts[group] > number) group -= 1;
  return group;
}

// The plays of an episode, or undefined while its group is not unpacked.
const playsOf = (number) => unpacked.get(groupOf(number))?.[number - groupStarts[groupOf(number)]];

async function unpack(number) {
  const group = groupOf(number);
  if (unpacked.has(group)) return;
  const text = document.getElementById(`group-${group}`).textContent;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  unpacked.set(group, JSON.parse(await new Response(stream).text()));
}
