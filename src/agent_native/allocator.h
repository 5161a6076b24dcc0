// The allocator under translation: malloc, free and their like run natively, and what they do to their own data is not
// of interest. Some also read or write the program's memory: a stand-in is called in their place and notes that.
//
// Thread safety: watch_allocator() and note_allocator_at() before threads exist; the stand-ins are called by any.
#pragma once

namespace contrafact::translate {
class Translator;
}

namespace contrafact::agent_native {

// Makes gates of the functions that neither unwind nor are cancelled, whichever library provides them. Asks the loader.
void watch_allocator(translate::Translator& translator);

// From now on `translator` notes what the program's allocator does. For a forked child, whose translator has its
// parent's gates.
void note_allocator_at(translate::Translator& translator);

// The current thread is about to free `block`, in native code: memory that is allocated there next is another place.
// REQUIRES: sets_are_on().
void note_native_free(void* block);

}  // namespace contrafact::agent_native
